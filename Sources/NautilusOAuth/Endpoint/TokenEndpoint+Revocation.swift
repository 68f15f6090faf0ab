import Nautilus

extension TokenEndpoint {
    /// Has the server forget a credential (RFC 7009): its refresh token, with which its access tokens end, or the access
    /// token where there is no other.
    ///
    /// A token that the server does not know, or not any more, is no error.
    ///
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)`` when the server has none for it. The tokens may be
    ///   good still whenever this throws.
    public func revoke(_ credential: OAuthCredential) async throws(OAuthError) {
        let endpoint = try EndpointUrl(server.revocationEndpoint, name: "revocation_endpoint")
        var form = TokenForm(.init("token", credential.refreshToken ?? credential.accessToken))
        form.add("token_type_hint", credential.refreshToken == nil ? "access_token" : "refresh_token")
        try await send(form, to: endpoint) { _, _ throws(MalformedReply) in }
    }
}
