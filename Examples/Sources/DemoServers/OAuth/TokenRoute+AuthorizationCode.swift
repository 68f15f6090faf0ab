extension TokenRoute {
    /// RFC 6749 §4.1.3, with the verifier of RFC 7636 §4.5.
    static func exchangeCode(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> TokenReply {
        let code = try request.form.required("code")
        let checked = server.codes.check(
            code,
            client: request.client.id,
            redirectUri: try request.form.required("redirect_uri"),
            verifier: try request.form.required("code_verifier"),
            at: request.now
        )
        switch checked {
        case .success(let authorization):
            let pair = server.tokens.signIn(
                at: request.now,
                client: authorization.client,
                scope: authorization.scope
            )
            server.codes.redeem(code, for: pair)
            counters.codesExchanged += 1
            return TokenReply(pair)
        case .failure(let refusal):
            // RFC 6749 §4.1.2: one of the two that had the code should not have had it.
            if case .redeemed(let refreshToken) = refusal { server.tokens.endFamily(of: refreshToken) }
            throw OAuthFailure(.invalidGrant, "the code is not good, or not for this client, address and verifier")
        }
    }
}
