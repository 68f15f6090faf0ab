/// The tokens of a sign-in.
public struct SessionTokens: Codable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that a refresh spends.
    public let refreshToken: String
    /// How long the access token serves; zero for one that has expired.
    public let lifetime: Duration

    /// Creates tokens as a server has issued them.
    public init(accessToken: String, refreshToken: String, lifetime: Duration) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetime = lifetime
    }
}

extension SessionTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The lifetime; never a token.
    public var description: String { "SessionTokens(‹redacted›, lifetime: \(lifetime))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the lifetime alone.
    public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime]) }
}
