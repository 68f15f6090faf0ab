/// The addresses of the authorization server; the raw value is the path.
package enum OAuthEndpoint: String, CaseIterable, Sendable {
    case authorize = "/oauth/authorize"
    case device = "/device"
    case deviceAuthorization = "/oauth/device_authorization"
    case metadata = "/.well-known/oauth-authorization-server"
    case revoke = "/oauth/revoke"
    case token = "/oauth/token"

    var path: String { rawValue }

    /// Users and discovery read; clients that identify themselves post.
    var method: String {
        switch self {
        case .authorize, .device, .metadata: "GET"
        case .deviceAuthorization, .revoke, .token: "POST"
        }
    }
}
