/// `GET /oauth/authorize` (RFC 6749 §4.1.1 and §4.1.2): signs the demo's user in at once, and sends the browser back.
enum AuthorizationRoute {
    /// Where a failure may be sent to.
    private struct Return {
        let uri: String
        let state: String?
        let issuer: String

        /// - Parameter result: Whether it went well: the code, or the error.
        func answer(_ name: String, _ result: String) -> ApiAnswer {
            var query = FormParameters.encode([name: result])
            if let state { query += "&" + FormParameters.encode(["state": state]) }
            // RFC 9207 §2: in failures, too.
            query += "&" + FormParameters.encode(["iss": issuer])
            // RFC 6749 §3.1.2: a query that the address has already is kept.
            let location = uri + (uri.contains("?") ? "&" : "?") + query
            return ApiAnswer(status: 302, header: ["Location": location, "Cache-Control": "no-store"])
        }
    }

    static func answer(
        _ request: ApiRequest,
        clients: [String: DemoClient],
        on server: inout AuthorizationServer,
        at now: Duration
    ) -> ApiAnswer {
        let query = request.query.withoutEmpty
        // RFC 6749 §4.1.2.1: no user is sent to an address that was not checked.
        guard let client = query["client_id"].flatMap({ clients[$0] }) else {
            return .page(400, title: "Unknown client", html: "<p>client_id is missing or not registered.</p>")
        }
        guard let redirectUri = query["redirect_uri"], client.mayRedirect(to: redirectUri) else {
            return .page(400, title: "Unknown address", html: "<p>redirect_uri is missing or not the client's.</p>")
        }
        let back = Return(uri: redirectUri, state: query["state"], issuer: server.origin)
        do throws(OAuthFailure) {
            let authorization = try authorization(of: query, client: client, redirectUri: redirectUri)
            return back.answer("code", server.codes.issue(authorization, at: now))
        } catch {
            return back.answer("error", error.code.rawValue)
        }
    }

    private static func authorization(
        of query: FormParameters,
        client: DemoClient,
        redirectUri: String
    ) throws(OAuthFailure) -> CodeAuthority.Authorization {
        guard !query.hasRepeats else { throw OAuthFailure(.invalidRequest, "a parameter comes twice") }
        guard client.mayUse(.authorizationCode) else {
            throw OAuthFailure(.unauthorizedClient, "the client is not registered for this grant")
        }
        guard try query.required("response_type") == "code" else {
            throw OAuthFailure(.unsupportedResponseType, "response_type is not code")
        }
        // RFC 7636 §4.4.1. Without a method it would be "plain", which protects no user.
        guard try query.required("code_challenge_method") == "S256" else {
            throw OAuthFailure(.invalidRequest, "code_challenge_method is not S256")
        }
        guard let challenge = PkceChallenge(try query.required("code_challenge")) else {
            throw OAuthFailure(.invalidRequest, "code_challenge is no SHA-256")
        }
        let scope = try query.requestedScope
        return .init(client: client.id, redirectUri: redirectUri, scope: scope, challenge: challenge)
    }
}
