import Nautilus

extension TokenEndpoint {
    /// Has the server forget a credential (RFC 7009): its refresh token, and its access token, which a server need not end with
    /// the other (§2.1).
    ///
    /// A token that the server does not know, or not any more, is no error; nor is it that it cannot end the access token, which
    /// then ends by itself (§2.2.1).
    ///
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)`` when the server has none for it. The tokens may be
    ///   good still whenever this throws.
    public func revoke(_ credential: OAuthCredential) async throws(OAuthError) {
        let endpoint = try EndpointUrl(server.revocationEndpoint, name: "revocation_endpoint")
        guard let refreshToken = credential.refreshToken else {
            return try await revoke(credential.accessToken, "access_token", at: endpoint)
        }
        try await revoke(refreshToken, "refresh_token", at: endpoint)
        do throws(OAuthError) {
            try await revoke(credential.accessToken, "access_token", at: endpoint)
        } catch {
            guard error.kind == .misconfigured(code: "unsupported_token_type") else { throw error }
        }
    }

    private func revoke(_ token: String, _ hint: String, at endpoint: EndpointUrl) async throws(OAuthError) {
        var form = TokenForm(.init("token", token))
        form.add("token_type_hint", hint)
        try await send(form, to: endpoint) { _, _ throws(MalformedReply) in }
    }
}
