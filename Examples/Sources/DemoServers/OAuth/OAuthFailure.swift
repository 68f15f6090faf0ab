/// Why an endpoint refuses a request, in the form of RFC 6749 §5.2.
package struct OAuthFailure: Error, Hashable, Sendable {
    /// RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5.
    package enum Code: String, Sendable {
        case accessDenied = "access_denied"
        case authorizationPending = "authorization_pending"
        case expiredToken = "expired_token"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidRequest = "invalid_request"
        case invalidScope = "invalid_scope"
        case slowDown = "slow_down"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
    }

    package let code: Code
    /// The text that a developer reads to mend the request. Fixed words: what the client sent is not repeated.
    package let detail: String
    /// Whether the client used `Authorization`, and so is to be told what belongs there.
    private let usedAuthorization: Bool

    init(_ code: Code, _ detail: String, usedAuthorization: Bool = false) {
        self.code = code
        self.detail = detail
        self.usedAuthorization = usedAuthorization
    }

    var answer: ApiAnswer {
        let body = ["error": code.rawValue, "error_description": detail]
        var answer = ApiAnswer.json(code == .invalidClient ? 401 : 400, body)
        if usedAuthorization { answer.header["WWW-Authenticate"] = #"Basic realm="oauth""# }
        return answer
    }
}

extension FormParameters {
    /// The value of a field that the request cannot do without.
    func required(_ name: StaticString) throws(OAuthFailure) -> String {
        guard let value = self["\(name)"] else { throw OAuthFailure(.invalidRequest, "\(name) is missing") }
        return value
    }

    /// The scope that is asked for; all there is when the request does not say.
    var requestedScope: DemoScope {
        get throws(OAuthFailure) {
            guard let scope = DemoScope.all.narrowed(to: self["scope"]) else {
                throw OAuthFailure(.invalidScope, "the scopes are: \(DemoScope.all)")
            }
            return scope
        }
    }
}
