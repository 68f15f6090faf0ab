/// The content of a redirect to the app: a code, or why there is none (RFC 6749 §4.1.2).
///
/// Anybody can send a browser to the app's redirect URL with anything behind it, so everything is checked before a code
/// is used.
struct RedirectReply: Sendable {
    private let fields: FormFields

    /// Reads the URL that the browser was redirected to.
    ///
    /// - Throws: ``OAuthError/Kind/invalidParameter(reason:)`` for a URL that does not lead to `target`,
    ///   ``OAuthError/Kind/malformedReply(reason:)`` for a query that cannot be read.
    init(_ url: String, to target: String) throws(OAuthError) {
        guard let expected = RedirectTarget(target[...]), RedirectTarget(url[...]) == expected else {
            throw OAuthError(.invalidParameter(reason: "the URL is not that of this sign-in's redirect"))
        }
        let bytes = url.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let start = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        guard let fields = FormFields(url[start..<end].dropFirst()) else {
            throw OAuthError(.malformedReply(reason: "the redirect's query is not form-encoded"))
        }
        self.fields = fields
    }

    /// The code, once it is certain that it belongs to `request`.
    ///
    /// - Parameters:
    ///   - request: The request that it must answer.
    ///   - namesIssuer: Whether the server is known to name itself in every redirect (RFC 9207 §3).
    /// - Throws: ``OAuthError``; the server's words are believed only after state and issuer are right.
    func code(for request: AuthorizationRequest, namesIssuer: Bool) throws(OAuthError) -> String {
        guard let state = try value("state"), request.state.matches(state) else { throw OAuthError(.stateMismatch) }
        try checkIssuer(of: request, mustBeNamed: namesIssuer)
        if let error = try value("error") { throw try refusal(error) }
        guard let code = try value("code"), !code.isEmpty else {
            throw OAuthError(.malformedReply(reason: "the redirect has neither a code nor an error"))
        }
        return code
    }

    private func checkIssuer(of request: AuthorizationRequest, mustBeNamed: Bool) throws(OAuthError) {
        guard let issuer = try value("iss") else {
            if mustBeNamed { throw OAuthError(.issuerMismatch) }
            return
        }
        // By bytes: texts that Unicode calls equivalent are two issuers (RFC 9207 §2.4).
        guard issuer.utf8.elementsEqual(request.issuer.utf8) else { throw OAuthError(.issuerMismatch) }
    }

    /// The error that the code means here (§4.1.2.1): other than in a token endpoint's reply, none ends a session,
    /// since the browser brings it.
    private func refusal(_ code: String) throws(OAuthError) -> OAuthError {
        guard let reply = ErrorReply(code: code, serverDescription: try value("error_description")) else {
            return OAuthError(.malformedReply(reason: "the redirect's error has no code"))
        }
        let kind: OAuthError.Kind =
            switch reply.code {
            case "access_denied": .accessDenied
            case "server_error", "temporarily_unavailable": .unavailable
            default: .misconfigured(code: reply.code)
            }
        return OAuthError(kind, serverDescription: reply.serverDescription)
    }

    /// The value of `name`; nil when it is missing.
    ///
    /// - Throws: ``OAuthError/Kind/malformedReply(reason:)`` when it is there twice (§3.1): it is unknown which one the
    ///   server means, and which another reader takes.
    private func value(_ name: String) throws(OAuthError) -> String? {
        let values = fields.values(of: name)
        guard values.count <= 1 else {
            throw OAuthError(.malformedReply(reason: "the redirect has several values of \(name)"))
        }
        return values.first
    }
}
