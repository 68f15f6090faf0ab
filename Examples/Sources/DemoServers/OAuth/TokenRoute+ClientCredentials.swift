extension TokenRoute {
    /// RFC 6749 §4.4: no refresh token, since the client can ask again at any time.
    static func trustClient(
        _ request: ClientRequest,
        on server: inout AuthorizationServer
    ) throws(OAuthFailure) -> TokenReply {
        let scope = try request.form.requestedScope
        return TokenReply(server.tokens.issueAccessToken(client: request.client.id, scope: scope, at: request.now))
    }
}
