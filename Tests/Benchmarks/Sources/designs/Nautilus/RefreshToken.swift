import Nautilus

/// `grant_type=refresh_token` (RFC 6749 §6).
struct RefreshToken {
    struct Result: Codable, Sendable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int64?
    }

    let refreshToken: String
}
extension RefreshToken: JsonRequest {
    var method: HttpMethod { .post }
    var route: HttpRoute { ["oauth", "token"] }
    var body: HttpBody { .form(["grant_type": "refresh_token", "refresh_token": refreshToken]) }
}
