/// The tokens that a token endpoint hands out.
public struct TokenPair: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh spends, once.
    public let refreshToken: String
    /// How long the access token serves, counted from now.
    public let lifetime: Duration
    /// The scope of the access token.
    public let scope: DemoScope

    init(_ accessToken: AccessToken, refreshToken: String) {
        self.accessToken = accessToken.value
        self.refreshToken = refreshToken
        self.lifetime = accessToken.lifetime
        self.scope = accessToken.scope
    }
}

extension TokenPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The lifetime; never the tokens.
    public var description: String { "TokenPair(‹redacted›, lifetime: \(lifetime))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the lifetime alone.
    public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime]) }
}
