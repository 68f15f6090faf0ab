import NautilusOAuth

extension OAuthNotesService {
    /// Signs in on another device (RFC 8628): the user opens a page there, and types in a code.
    ///
    /// The server is asked where that is done (RFC 8414).
    ///
    /// - Parameters:
    ///   - scope: The scope to ask for. Default: nil, the one that the server gives by itself.
    ///   - show: Shows page and code to the user. The server is polled once it has returned.
    /// - Returns: The credential that the session has begun with.
    /// - Throws: `OAuthError` of any of the steps; `SessionError` when the credential could not be kept.
    @discardableResult
    public func signIn(
        scope: OAuthScope? = nil,
        showing show: @Sendable (DeviceAuthorization) async -> Void
    ) async throws -> OAuthCredential {
        let server = try await AuthorizationServer.discover(
            issuer: environment.origin,
            transport: transport,
            clock: clock
        )
        let endpoint = TokenEndpoint(
            server: server,
            client: self.endpoint.client,
            transport: transport,
            clock: clock
        )
        let authorization = try await endpoint.authorizeDevice(scope: scope)
        await show(authorization)
        let credential = try await endpoint.credential(for: authorization)
        try await session.signIn(credential)
        return credential
    }
}
