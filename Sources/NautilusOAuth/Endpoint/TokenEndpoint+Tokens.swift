import Nautilus

extension TokenEndpoint {
    /// Replaces a credential by a fresh one (RFC 6749 §6).
    ///
    /// What the reply leaves out stays: the refresh token, unless the server rotates it, and the scope.
    ///
    /// - Parameters:
    ///   - credential: What is replaced. Its refresh token may be spent afterwards, also when this throws
    ///     ``OAuthError/Kind/answerLost`` or ``OAuthError/Kind/malformedReply(reason:)``.
    ///   - scope: What to ask for, at most what the credential allows. Default: nil, all that it allows.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noRefreshToken``, at once, when there is nothing to pay with;
    ///   ``OAuthError/Kind/invalidGrant`` when the server does not take it any more.
    public func refresh(
        _ credential: OAuthCredential,
        scope: OAuthScope? = nil
    ) async throws(OAuthError) -> OAuthCredential {
        guard let refreshToken = credential.refreshToken else { throw OAuthError(.noRefreshToken) }
        var form = TokenForm(.init("grant_type", "refresh_token"), .init("refresh_token", refreshToken))
        form.add(scope)
        let reply = try await reply(to: form)
        return reply.credential(replacing: credential, requested: scope, receivedAt: wallClock())
    }

    /// Gets a credential for the client itself, without a user (RFC 6749 §4.4).
    ///
    /// - Parameter scope: What to ask for. Default: nil, what the server gives by itself.
    /// - Throws: ``OAuthError``.
    public func clientCredentials(scope: OAuthScope? = nil) async throws(OAuthError) -> OAuthCredential {
        var form = TokenForm(.init("grant_type", "client_credentials"))
        form.add(scope)
        return try await reply(to: form).credential(requested: scope, receivedAt: wallClock())
    }
}
