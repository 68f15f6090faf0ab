import Foundation

/// `POST /oauth/token` with `grant_type=refresh_token` (RFC 6749 §6).
enum TokenRoute {
    static let path = "/oauth/token"

    private struct Reply: Encodable {
        let accessToken: String
        let tokenType = "Bearer"
        let expiresIn: Int64
        let refreshToken: String
    }

    static func answer(
        _ request: ApiRequest,
        from authority: inout TokenAuthority,
        at now: Duration,
        counters: inout ServerCounters
    ) -> ApiAnswer {
        guard request.method == "POST" else {
            return .failure(405, "method_not_allowed", header: ["Allow": "POST"])
        }
        let form = fields(of: request.body)
        guard form["grant_type"] == "refresh_token" else { return .failure(400, "unsupported_grant_type") }
        guard let refreshToken = form["refresh_token"] else { return .failure(400, "invalid_request") }
        counters.refreshes += 1
        switch authority.rotate(refreshToken, at: now) {
        case .success(let pair):
            let reply = Reply(
                accessToken: pair.accessToken,
                expiresIn: pair.lifetime.components.seconds,
                refreshToken: pair.refreshToken
            )
            return .json(200, reply)
        case .failure(let refusal):
            if refusal == .reused { counters.reuseDetected += 1 }
            return .failure(400, "invalid_grant")
        }
    }

    private static func fields(of body: Data) -> [String: String] {
        let form = String(decoding: body, as: UTF8.self).replacingOccurrences(of: "+", with: "%20")
        let items = URLComponents(string: "?" + form)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}
