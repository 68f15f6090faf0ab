/// The base URL of a call's requests, and that of its service.
///
/// A call has one target, from before its retrier is made until its end. Values made for one environment must not reach
/// another: a credential, an idempotency key, a cursor, the memory of a cache or a hook.
struct CallTarget: Sendable {
    /// The base that the request is appended to: the request's own, or the service's.
    let base: BaseUrl
    /// The service's base.
    let service: BaseUrl

    /// Creates the target of a call as of now.
    ///
    /// - Parameter known: The target that the call had before; nil for none.
    /// - Throws: ``InvalidRequest``.
    init(
        of request: some Request,
        for service: ServiceConfiguration,
        before known: CallTarget? = nil
    ) throws(InvalidRequest) {
        let isSecure = service.usesSecureProtocol
        self.service = try BaseUrlMemo.shared.base(service.apiUrl, isSecure: isSecure, before: known?.service)
        let (url, ownSecurity) = (request.url, request.usesSecureProtocol)
        guard url != nil || ownSecurity != nil else {
            self.base = self.service
            return
        }
        self.base = try BaseUrlMemo.shared.base(
            url ?? service.apiUrl,
            isSecure: ownSecurity ?? isSecure,
            before: known?.base
        )
    }

    /// Checks that the call still goes where it began. The request's own URL may have another path by now, such as one
    /// with a new signature; the service's URL may not, since environments may share a host.
    ///
    /// - Throws: ``EnvironmentChange``.
    func check(_ present: CallTarget) throws(EnvironmentChange) {
        try service.check(present.service)
        guard base === present.base || base.origin == present.base.origin else {
            throw EnvironmentChange(from: base.origin, to: present.base.origin)
        }
    }
}
