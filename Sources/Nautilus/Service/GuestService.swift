extension HttpService {
    /// This service for calls that need no credential: a sign-up, a price list, and the request that renews a
    /// credential, since it must not wait for its own renewal.
    ///
    /// ```swift
    /// let prices = try await GetPrices().schedule(with: service.signedOut)
    /// ```
    /// Everything else is this service's own: its interceptors, its error, its attempts, delays and budget of retries.
    /// Only retriers that authorize are left out, by ``RetrierFactory/signedOut``, and retries do not wait for a
    /// refresh. If no retrier authorizes, it behaves like this service.
    public var signedOut: AnyHttpService<RequestError> {
        AnyHttpService(GuestService(base: AnyHttpService(self)))
    }

    /// This service, or ``signedOut`` if nobody is signed in: for content that guests can see, but users see in their
    /// own version.
    ///
    /// ```swift
    /// let start = try await GetStartPage().schedule(with: service.signedOut(unless: session.restore()))
    /// ```
    public func signedOut(unless isSignedIn: Bool) -> AnyHttpService<RequestError> {
        isSignedIn ? AnyHttpService(self) : signedOut
    }
}

/// Another service without its authorization.
private struct GuestService<RequestError: Error>: ForwardingService {
    let base: AnyHttpService<RequestError>

    var forwarded: any HttpService { base.forwarded }
    var retrierFactory: any RetrierFactory { forwarded.retrierFactory.signedOut }
    var isSignedOut: Bool { true }
    var selectedService: AnyHttpService<RequestError>? { base.selectedService?.signedOut }

    func mapError(_ error: HttpError) -> RequestError { base.mapError(error) }
}
