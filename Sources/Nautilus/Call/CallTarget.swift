/// The base URL of a call's requests, and that of its service.
///
/// A call has one, from before its retrier is made until its end. Values that were made for one environment are not for
/// another: a credential, an idempotency key, a cursor, the memory of a cache or a hook.
struct CallTarget: Sendable {
    /// The base that the request is appended to: its own, or its service's.
    let base: BaseUrl
    /// The service's base.
    let service: BaseUrl

    /// The target of a call as of now.
    ///
    /// - Parameter known: The target that the call has had before; nil for none.
    /// - Throws: ``InvalidRequest``.
    init(
        of request: some Request,
        for service: some HttpService,
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

    /// Looks whether the call still goes where it began. A request's own URL may have another path meanwhile, such as a
    /// new signature has; its service may not, since environments may share a host.
    ///
    /// - Throws: ``EnvironmentChange``.
    func check(_ present: CallTarget) throws(EnvironmentChange) {
        try service.check(present.service)
        guard base === present.base || base.origin == present.base.origin else {
            throw EnvironmentChange(from: base.origin, to: present.base.origin)
        }
    }
}
