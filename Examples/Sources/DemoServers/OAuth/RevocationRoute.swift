/// `POST /oauth/revoke` (RFC 7009).
enum RevocationRoute {
    static func answer(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> ApiAnswer {
        // The hint about its kind is not needed: every token is looked up among all.
        let token = try request.form.required("token")
        switch server.tokens.revoke(token, client: request.client.id) {
        case .revoked: counters.tokensRevoked += 1
        // RFC 7009 §2.2: what the client wants is so already.
        case .nothingToRevoke: break
        case .otherClient: throw OAuthFailure(.invalidGrant, "the token is not this client's")
        }
        return ApiAnswer(status: 200)
    }
}
