/// `GET /.well-known/oauth-authorization-server`: what the server can do, and where (RFC 8414 §2).
struct ServerMetadata: Encodable {
    private let issuer: String
    private let authorizationEndpoint: String
    private let tokenEndpoint: String
    private let deviceAuthorizationEndpoint: String
    private let revocationEndpoint: String
    private let scopesSupported = DemoScope.all.description.split(separator: " ").map(String.init)
    private let responseTypesSupported = ["code"]
    private let grantTypesSupported = DemoGrant.allCases.map(\.rawValue)
    private let tokenEndpointAuthMethodsSupported = Self.authMethods
    private let revocationEndpointAuthMethodsSupported = Self.authMethods
    private let codeChallengeMethodsSupported = ["S256"]
    /// RFC 9207 §3.
    private let authorizationResponseIssParameterSupported = true

    init(origin: String) {
        issuer = origin
        authorizationEndpoint = origin + OAuthEndpoint.authorize.path
        tokenEndpoint = origin + OAuthEndpoint.token.path
        deviceAuthorizationEndpoint = origin + OAuthEndpoint.deviceAuthorization.path
        revocationEndpoint = origin + OAuthEndpoint.revoke.path
    }

    private static let authMethods = ["client_secret_basic", "client_secret_post", "none"]
}
