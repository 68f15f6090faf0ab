/// The answer of the token endpoint (RFC 6749 §5.1).
struct TokenReply: Encodable {
    private let accessToken: String
    private let tokenType = "Bearer"
    private let expiresIn: Int64
    private let refreshToken: String?
    private let scope: String

    init(_ pair: TokenPair) {
        accessToken = pair.accessToken
        expiresIn = pair.lifetime.components.seconds
        refreshToken = pair.refreshToken
        scope = pair.scope.description
    }

    init(_ token: AccessToken) {
        accessToken = token.value
        expiresIn = token.lifetime.components.seconds
        refreshToken = nil
        scope = token.scope.description
    }
}

extension TokenReply: Redacted {}
