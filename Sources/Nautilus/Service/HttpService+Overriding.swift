extension HttpService {
    /// This service with some properties replaced; the others stay, and are still read again whenever the base's would
    /// be.
    ///
    /// ```swift
    /// let underTest = NotesService(.staging).overriding(transport: scripted, clock: clock)
    /// ```
    /// Calls keep the base's typed error. An override of an override works; the last one counts.
    ///
    /// - Parameters:
    ///   - apiUrl: The base URL instead. The base's credentials come along, since a retrier takes the service's own
    ///     origin for theirs: for another environment, give a session of its own with it.
    ///   - usesSecureProtocol: Whether a base URL without scheme means `https`.
    ///   - header: Fields that win over all that the base says, its asynchronous ones included; the others stay.
    ///   - interceptors: In place of the base's. To add one, write `base.interceptors + [mine]`.
    ///   - retrierFactory: In place of the base's, authorization included. To add one, compose the two.
    ///   - hedging: In place of the base's; `.some(nil)` for none.
    ///   - hook: In place of the base's.
    ///   - observer: In place of the base's.
    ///   - transport: The transport that moves bytes instead.
    ///   - webSocketTransport: The transport that opens web sockets instead.
    ///   - clock: The clock that measures time and sleeps instead.
    ///   - maxAttempts: The most attempts of any call.
    public func overriding(
        apiUrl: (any UrlConvertible)? = nil,
        usesSecureProtocol: Bool? = nil,
        header: HttpHeader = [:],
        interceptors: [any HttpInterceptor]? = nil,
        retrierFactory: (any RetrierFactory)? = nil,
        hedging: Hedging?? = nil,
        hook: (any ServiceHook)? = nil,
        observer: (any CallObserver)? = nil,
        transport: (any HttpTransport)? = nil,
        webSocketTransport: (any WebSocketTransport)? = nil,
        clock: (any Clock<Duration>)? = nil,
        maxAttempts: Int? = nil
    ) -> AnyHttpService<RequestError> {
        AnyHttpService(
            OverridingService(
                base: self,
                own: Overrides(
                    apiUrl: apiUrl,
                    usesSecureProtocol: usesSecureProtocol,
                    header: header,
                    interceptors: interceptors,
                    retrierFactory: retrierFactory,
                    hedging: hedging,
                    hook: hook,
                    observer: observer,
                    transport: transport,
                    webSocketTransport: webSocketTransport,
                    clock: clock,
                    maxAttempts: maxAttempts
                )
            )
        )
    }
}

/// The properties that a service has of its own; nil for those of its base.
private struct Overrides {
    let apiUrl: (any UrlConvertible)?
    let usesSecureProtocol: Bool?
    let header: HttpHeader
    let interceptors: [any HttpInterceptor]?
    let retrierFactory: (any RetrierFactory)?
    let hedging: Hedging??
    let hook: (any ServiceHook)?
    let observer: (any CallObserver)?
    let transport: (any HttpTransport)?
    let webSocketTransport: (any WebSocketTransport)?
    let clock: (any Clock<Duration>)?
    let maxAttempts: Int?
}

/// A service that is another one except for the properties of its own.
private struct OverridingService<Base: HttpService>: HttpService {
    let base: Base
    let own: Overrides

    var apiUrl: any UrlConvertible { own.apiUrl ?? base.apiUrl }
    var usesSecureProtocol: Bool { own.usesSecureProtocol ?? base.usesSecureProtocol }
    var header: HttpHeader { base.header.merging(own.header) }
    // An asynchronous field wins over the others, so what overrides has to win here once more.
    var asyncHeader: HttpHeader { get async throws { try await base.asyncHeader.merging(own.header) } }
    var interceptors: [any HttpInterceptor] { own.interceptors ?? base.interceptors }
    var retrierFactory: any RetrierFactory { own.retrierFactory ?? base.retrierFactory }
    var hedging: Hedging? { own.hedging ?? base.hedging }
    var hook: any ServiceHook { own.hook ?? base.hook }
    var observer: any CallObserver { own.observer ?? base.observer }
    var transport: any HttpTransport { own.transport ?? base.transport }
    var webSocketTransport: any WebSocketTransport { own.webSocketTransport ?? base.webSocketTransport }
    var clock: any Clock<Duration> { own.clock ?? base.clock }
    var maxAttempts: Int { own.maxAttempts ?? base.maxAttempts }

    var selectedService: AnyHttpService<Base.RequestError>? {
        base.selectedService.map { AnyHttpService(OverridingService<AnyHttpService>(base: $0, own: own)) }
    }

    func mapError(_ error: HttpError) -> Base.RequestError { base.mapError(error) }
}
