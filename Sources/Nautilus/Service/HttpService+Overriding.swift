extension HttpService {
    /// This service with some things of its own: what is named is replaced, what is not stays, and is still read again
    /// whenever the base's would be.
    ///
    /// ```swift
    /// let underTest = NotesService(.staging).overriding(transport: scripted, clock: clock)
    /// ```
    /// Calls keep the base's typed error. An override of an override works; the last one counts.
    ///
    /// - Parameters:
    ///   - apiUrl: Where calls go instead. The base's credentials come along, since a retrier takes the service's own
    ///     origin for theirs: for another environment, give a session of its own with it.
    ///   - usesSecureProtocol: Whether a base URL without scheme means `https`.
    ///   - header: Fields that win over all that the base says, its asynchronous ones included; the others stay.
    ///   - interceptors: In place of the base's. To add one, write `base.interceptors + [mine]`.
    ///   - retrierFactory: In place of the base's, authorization included. To add one, compose the two.
    ///   - hedging: In place of the base's; `.some(nil)` for none.
    ///   - hook: In place of the base's.
    ///   - observer: In place of the base's.
    ///   - transport: What moves bytes instead.
    ///   - webSocketTransport: What opens web sockets instead.
    ///   - clock: What time is measured and slept on instead.
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
                ownApiUrl: apiUrl,
                ownUsesSecureProtocol: usesSecureProtocol,
                ownHeader: header,
                ownInterceptors: interceptors,
                ownRetrierFactory: retrierFactory,
                ownHedging: hedging,
                ownHook: hook,
                ownObserver: observer,
                ownTransport: transport,
                ownWebSocketTransport: webSocketTransport,
                ownClock: clock,
                ownMaxAttempts: maxAttempts
            )
        )
    }
}

/// A service that is another one but for what it has of its own.
private struct OverridingService<Base: HttpService>: HttpService {
    let base: Base
    let ownApiUrl: (any UrlConvertible)?
    let ownUsesSecureProtocol: Bool?
    let ownHeader: HttpHeader
    let ownInterceptors: [any HttpInterceptor]?
    let ownRetrierFactory: (any RetrierFactory)?
    let ownHedging: Hedging??
    let ownHook: (any ServiceHook)?
    let ownObserver: (any CallObserver)?
    let ownTransport: (any HttpTransport)?
    let ownWebSocketTransport: (any WebSocketTransport)?
    let ownClock: (any Clock<Duration>)?
    let ownMaxAttempts: Int?

    var apiUrl: any UrlConvertible { ownApiUrl ?? base.apiUrl }
    var usesSecureProtocol: Bool { ownUsesSecureProtocol ?? base.usesSecureProtocol }
    var header: HttpHeader { base.header.merging(ownHeader) }
    // An asynchronous field wins over the others, so what overrides has to win here once more.
    var asyncHeader: HttpHeader { get async throws { try await base.asyncHeader.merging(ownHeader) } }
    var interceptors: [any HttpInterceptor] { ownInterceptors ?? base.interceptors }
    var retrierFactory: any RetrierFactory { ownRetrierFactory ?? base.retrierFactory }
    var hedging: Hedging? { ownHedging ?? base.hedging }
    var hook: any ServiceHook { ownHook ?? base.hook }
    var observer: any CallObserver { ownObserver ?? base.observer }
    var transport: any HttpTransport { ownTransport ?? base.transport }
    var webSocketTransport: any WebSocketTransport { ownWebSocketTransport ?? base.webSocketTransport }
    var clock: any Clock<Duration> { ownClock ?? base.clock }
    var maxAttempts: Int { ownMaxAttempts ?? base.maxAttempts }

    func mapError(_ error: HttpError) -> Base.RequestError { base.mapError(error) }
}
