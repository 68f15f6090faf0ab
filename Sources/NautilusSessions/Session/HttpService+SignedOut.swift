import Nautilus

extension HttpService {
    /// This service for calls that need no credential: a sign-up, a price list, and the request that renews a credential, which
    /// must not wait for itself.
    ///
    /// ```swift
    /// let prices = try await GetPrices().schedule(with: service.signedOut)
    /// ```
    /// Everything else is this service's own, its interceptors and its error included. In the place of its retriers is plain
    /// backoff, since the session is among them; for others write `overriding(retrierFactory:)`. So a request that is not
    /// idempotent, as a renewal's is, is repeated only where it certainly did not run.
    public var signedOut: AnyHttpService<RequestError> {
        overriding(retrierFactory: BackoffRetrier.factory(maxAttempts: 3))
    }
}
