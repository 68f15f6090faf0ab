import Nautilus

extension AuthorizationServer {
    /// Asks an issuer for its metadata (RFC 8414).
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL.
    ///   - transport: What moves bytes. Default: the process's shared transport.
    ///   - retrierFactory: What repeats the request. Default: backoff with 3 attempts.
    ///   - clock: What time is measured and slept on. Default: `ContinuousClock`.
    /// - Throws: ``OAuthError``.
    public static func discover(
        issuer: String,
        transport: any HttpTransport = URLSessionTransport.shared,
        retrierFactory: any RetrierFactory = BackoffRetrier.factory(maxAttempts: 3),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OAuthError) -> AuthorizationServer {
        throw OAuthError(.noEndpoint(name: "metadata"))
    }
}
