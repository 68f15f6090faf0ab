extension TokenRoute {
    /// RFC 6749 §6.
    static func refresh(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> TokenReply {
        let token = try request.form.required("refresh_token")
        let scope = request.form["scope"].map(DemoScope.init)
        counters.refreshes += 1
        let wasSpent = server.tokens.isSpent(token)
        switch server.tokens.rotate(token, at: request.now, client: request.client.id, scope: scope) {
        case .success(let pair):
            if wasSpent { counters.graceReuses += 1 }
            return TokenReply(pair)
        case .failure(.scopeExceeded):
            throw OAuthFailure(.invalidScope, "the user granted less than that")
        case .failure(let refusal):
            if refusal == .reused { counters.reuseDetected += 1 }
            throw OAuthFailure(.invalidGrant, "the refresh token is not good, or not this client's")
        }
    }
}
