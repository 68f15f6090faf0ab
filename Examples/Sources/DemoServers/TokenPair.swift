/// What a token endpoint hands out.
public struct TokenPair: Hashable, Sendable {
    /// What authorizes a request.
    public let accessToken: String
    /// What the next refresh is paid with, once.
    public let refreshToken: String
    /// How long the access token serves, counted from now.
    public let lifetime: Duration
}

extension TokenPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The lifetime; never the tokens.
    public var description: String { "TokenPair(‹redacted›, lifetime: \(lifetime))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the lifetime alone.
    public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime]) }
}
