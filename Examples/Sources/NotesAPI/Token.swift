/// The tokens that authorize a user of one environment.
public struct Token: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh spends: it serves once.
    public let refreshToken: String
    /// How long the access token serves, counted from its receipt; nil when the server does not say.
    public let lifetime: Duration?
    /// The environment that issued it, and the only one that it is sent to.
    public let environment: NotesEnvironment

    /// Creates a token, as from a keychain.
    public init(accessToken: String, refreshToken: String, lifetime: Duration?, environment: NotesEnvironment) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetime = lifetime
        self.environment = environment
    }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The environment; never the secrets.
    public var description: String { "Token(\(environment), ‹redacted›)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the environment alone: `dump` is a log, too.
    public var customMirror: Mirror { Mirror(self, children: ["environment": environment.name]) }
}
