/// The base URL of a call's requests, and that of its service.
///
/// A call has one target, from before its retrier is made until its end. Values made for one environment must not reach
/// another: a credential, an idempotency key, a cursor, the memory of a cache or a hook.
struct CallTarget: Sendable {
    /// The base that the request is appended to: the request's own, or the service's.
    let base: BaseUrl
    /// The service's base.
    let service: BaseUrl

    /// Creates the target of a call.
    ///
    /// - Throws: ``HttpRequest/Invalid``.
    init(of request: some Request, for service: ServiceConfiguration) throws(HttpRequest.Invalid) {
        let isSecure = service.usesSecureProtocol
        self.service = try BaseUrlMemo.shared.base(service.apiUrl, isSecure: isSecure)
        let (url, ownSecurity) = (request.url, request.usesSecureProtocol)
        guard url != nil || ownSecurity != nil else {
            self.base = self.service
            return
        }
        self.base = try BaseUrlMemo.shared.base(url ?? service.apiUrl, isSecure: ownSecurity ?? isSecure)
    }

    /// The later target, which has to have the same origin.
    ///
    /// - Throws: ``FailureKind/FailureKind.EnvironmentChange``.
    func following(_ later: CallTarget) throws(FailureKind.EnvironmentChange) -> CallTarget {
        guard base === later.base || base.origin == later.base.origin else {
            throw FailureKind.EnvironmentChange(from: base.origin, to: later.base.origin)
        }
        return later
    }
}
