import Foundation
import Nautilus

/// `grant_type=refresh_token` (RFC 6749 §6).
struct RefreshToken {
    struct Result: Decodable, Sendable {
        let accessToken: String
        let refreshToken: String?
        let expiresIn: Int64?
    }

    let refreshToken: String
}
extension RefreshToken: JsonRequest {
    var method: HttpMethod { .post }
    var route: HttpRoute { ["oauth", "token"] }
    var body: HttpBody { .form(["grant_type": "refresh_token", "refresh_token": refreshToken]) }
    var usesSnakeCase: Bool { true }
    // One attempt.
    var timeout: Duration? { .seconds(20) }
    // All attempts and their delays: shorter than the coordinator's 30 s, so that a refresh fails with its own reason.
    var deadline: Duration? { .seconds(25) }
}

extension HttpError {
    private struct TokenFailure: Decodable {
        let error: String
    }

    /// Whether the token endpoint says that the session is over (RFC 6749 §5.2).
    var isInvalidGrant: Bool {
        guard let response, response.status == 400 || response.status == 401 else { return false }
        return (try? JSONDecoder().decode(TokenFailure.self, from: response.body))?.error == "invalid_grant"
    }
}
