/// The place that calls go to, and the rules that they follow: an API, declared once.
///
/// ```swift
/// struct Staging: HttpService {
///     var apiUrl: any UrlConvertible { "staging.example.com/v1" }
///     var retrierFactory: any RetrierFactory { BackoffRetrier.factory() }
/// }
/// let note = try await GetNote(id: 7).schedule(with: Staging())
/// ```
public protocol HttpService: Sendable {
    /// The error that calls throw. Default: ``HttpError``.
    associatedtype RequestError: Error = HttpError

    /// The base URL, with or without scheme, port and path. A scheme that it names wins over ``usesSecureProtocol``.
    var apiUrl: any UrlConvertible { get }
    /// Whether a base URL without scheme means `https`. Default: true.
    var usesSecureProtocol: Bool { get }
    /// Fields for every request, read again for every attempt. Default: none.
    var header: HttpHeader { get }
    /// Fields that take time to get, read again for every attempt; they win over ``header``. Default: none.
    ///
    /// - Throws: Any error; it becomes the attempt's failure. An error of your own becomes kind `custom`, and lies
    ///   underneath; the framework's, URL loading's and cancellations keep their kind.
    var asyncHeader: HttpHeader { get async throws }
    /// The interceptors that wrap every attempt, outermost first. Default: none.
    var interceptors: [any HttpInterceptor] { get }
    /// The factory of each call's retrier. Default: ``NilRetrier``, no retries: an author opts in.
    var retrierFactory: any RetrierFactory { get }
    /// When a slow request is sent a second time. Default: nil, never: it is load that an author has to want.
    var hedging: Hedging? { get }
    /// The hook that looks at calls as a whole. Default: one that does nothing.
    var hook: any ServiceHook { get }
    /// The observer of attempts and decisions. Default: none, at no cost.
    var observer: any CallObserver { get }
    /// The transport that moves bytes. Default: ``PlatformTransport/shared``, URL loading on Apple's platforms and
    /// libcurl on Linux.
    var transport: any HttpTransport { get }
    /// The transport that opens web sockets. Default: URL loading's on Apple's platforms and libcurl's on Linux;
    /// ``WebSocketsUnavailable`` where there is neither.
    var webSocketTransport: any WebSocketTransport { get }
    /// The clock that measures time and sleeps. Default: `ContinuousClock`, which goes on while the machine sleeps.
    var clock: any Clock<Duration> { get }
    /// The most attempts of any call, whatever its retrier says. Default: 100, far above sensible retriers and far
    /// below an endless loop.
    var maxAttempts: Int { get }
    /// The service behind this one as of now, with which a call that begins now is made to its end; so are the pages of
    /// a list, the connections of a stream and an open web socket. Default: nil, this one is it.
    ///
    /// For services that stand for others in turn, as ``ServiceSwitch`` does.
    var selectedService: AnyHttpService<RequestError>? { get }

    /// Turns the framework's error into the service's own.
    ///
    /// Default where ``RequestError`` is ``HttpError``: the error as it is, since it says everything already.
    func mapError(_ error: HttpError) -> RequestError
}

extension HttpService {
    /// `https`.
    public var usesSecureProtocol: Bool { true }
    /// No fields.
    public var header: HttpHeader { [:] }
    /// No fields.
    public var asyncHeader: HttpHeader { get async throws { [:] } }
    /// No interceptors.
    public var interceptors: [any HttpInterceptor] { [] }
    /// No retries.
    public var retrierFactory: any RetrierFactory { NilRetrier.factory() }
    /// No second sends.
    public var hedging: Hedging? { nil }
    /// No hook.
    public var hook: any ServiceHook { NilServiceHook() }
    /// No observer.
    public var observer: any CallObserver { NilCallObserver() }
    /// The shared URL loading transport.
    public var transport: any HttpTransport { PlatformTransport.shared }
    /// The platform's web sockets, where it has some.
    public var webSocketTransport: any WebSocketTransport { platformWebSocketTransport }
    /// The continuous clock.
    public var clock: any Clock<Duration> { ContinuousClock() }
    /// 100.
    public var maxAttempts: Int { 100 }
    /// No other service.
    public var selectedService: AnyHttpService<RequestError>? { nil }
}

extension HttpService where RequestError == HttpError {
    /// The error as it is.
    public func mapError(_ error: HttpError) -> HttpError { error }
}

extension HttpService {
    /// The platform's transport of web sockets.
    var platformWebSocketTransport: any WebSocketTransport {
        #if os(Linux)
            if let reason = CurlTransport.unavailability { return WebSocketsUnavailable(reason: reason) }
            return CurlWebSocketTransport.shared
        #elseif canImport(FoundationNetworking)
            return WebSocketsUnavailable()
        #else
            return URLSessionWebSocketTransport()
        #endif
    }
}

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

/// A service for derived requests: its retriers are made for, and asked about, the request that was declared.
struct DerivedService<S: HttpService, Base: Request>: HttpService {
    typealias RequestError = S.RequestError

    let service: S
    let base: Base
    /// Tells which failures are followed by another attempt at once, whatever the retrier says. Default: none.
    var repeats: @Sendable (HttpError) -> Bool = { _ in false }

    var apiUrl: any UrlConvertible { service.apiUrl }
    var usesSecureProtocol: Bool { service.usesSecureProtocol }
    var header: HttpHeader { service.header }
    var asyncHeader: HttpHeader { get async throws { try await service.asyncHeader } }
    var interceptors: [any HttpInterceptor] { service.interceptors }
    var hedging: Hedging? { service.hedging }
    var hook: any ServiceHook { service.hook }
    var observer: any CallObserver { service.observer }
    var transport: any HttpTransport { service.transport }
    var webSocketTransport: any WebSocketTransport { service.webSocketTransport }
    var clock: any Clock<Duration> { service.clock }
    var maxAttempts: Int { service.maxAttempts }
    var retrierFactory: any RetrierFactory {
        let factory = service.retrierFactory
        return AnyRetrierFactory(policies: factory.policies) { [base, repeats] in
            DerivedRetrier(retrier: factory.create(for: base), base: base, repeats: repeats)
        }
    }

    func mapError(_ error: HttpError) -> S.RequestError { service.mapError(error) }
}

/// Passes everything on to the service's retrier, and the declared request for the derived one.
private struct DerivedRetrier<Base: Request>: Retrier {
    var retrier: any Retrier
    let base: Base
    let repeats: @Sendable (HttpError) -> Bool
    private var hasRepeated = false

    init(retrier: any Retrier, base: Base, repeats: @escaping @Sendable (HttpError) -> Bool) {
        (self.retrier, self.base, self.repeats) = (retrier, base, repeats)
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        try await retrier.prepare(&httpRequest, context: context)
    }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        hasRepeated = repeats(error)
        if hasRepeated { return .retry(after: .zero) }
        return await retrier.retry(base, failingWith: error)
    }

    mutating func succeeded(_ success: CallSuccess) { retrier.succeeded(success) }
    func spread(over span: Duration) -> Duration { retrier.spread(over: span) }
    var reason: RetryReason? { hasRepeated ? nil : retrier.reason }
    var name: String { hasRepeated ? "Download" : retrier.name }
}
