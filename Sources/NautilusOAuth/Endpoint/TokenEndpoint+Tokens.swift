import Nautilus

extension TokenEndpoint {
    /// Replaces a credential by a fresh one (RFC 6749 §6).
    ///
    /// Values that the reply leaves out stay: the refresh token, unless the server rotates it, and the scope.
    ///
    /// - Parameters:
    ///   - credential: The credential to replace. Its refresh token may be spent afterwards, also when this throws
    ///     ``OAuthError/Kind/answerLost`` or ``OAuthError/Kind/malformedReply(reason:)``.
    ///   - scope: The scope to ask for, at most that of the credential. Default: nil, all of it.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noRefreshToken``, at once, when there is no refresh token to spend;
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
    /// - Parameter scope: The scope to ask for. Default: nil, the server's own choice.
    /// - Throws: ``OAuthError``.
    public func clientCredentials(scope: OAuthScope? = nil) async throws(OAuthError) -> OAuthCredential {
        var form = TokenForm(.init("grant_type", "client_credentials"))
        form.add(scope)
        return try await reply(to: form).credential(requested: scope, receivedAt: wallClock())
    }
}
