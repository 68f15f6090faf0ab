/// The properties of a service; ``HttpService/with(_:)`` replaces them one by one.
///
/// Until a property is set, it has the service's value, which is still read again whenever the service's would be.
public struct ServiceConfiguration: Sendable {
    private let base: any HttpService
    fileprivate var own = Overrides()

    fileprivate init(_ base: any HttpService) {
        self.base = base
    }

    /// The base URL. The service's credentials go there, too, since a retrier considers the service's origin to be
    /// theirs. For another environment, also set a session of its own.
    public var apiUrl: any UrlConvertible {
        get { own.apiUrl ?? base.apiUrl }
        set { own.apiUrl = newValue }
    }
    /// Whether a base URL without scheme means `https`.
    public var usesSecureProtocol: Bool {
        get { own.usesSecureProtocol ?? base.usesSecureProtocol }
        set { own.usesSecureProtocol = newValue }
    }
    /// Header fields that are added to the service's; they override all fields of the service, including the
    /// asynchronous ones. None at first.
    public var header: HttpHeader {
        get { own.header }
        set { own.header = newValue }
    }
    /// Makes header fields that take time to get, again for every attempt; they override all others. Nil at first: only
    /// the service's.
    public var asyncHeader: (@Sendable () async throws -> HttpHeader)? {
        get { own.asyncHeader }
        set { own.asyncHeader = newValue }
    }
    /// The interceptors, outermost first. To add one, append it.
    public var interceptors: [any HttpInterceptor] {
        get { own.interceptors ?? base.interceptors }
        set { own.interceptors = newValue }
    }
    /// The factory of retriers, authorization included. To add a retrier, compose its factory with this one.
    public var retrierFactory: any RetrierFactory {
        get { own.retrierFactory ?? base.retrierFactory }
        set { own.retrierFactory = newValue }
    }
    /// When a slow request is sent a second time; nil for never.
    public var hedging: Hedging? {
        get { own.hedging ?? base.hedging }
        set { own.hedging = .some(newValue) }
    }
    /// The hook that looks at calls as a whole.
    public var hook: any ServiceHook {
        get { own.hook ?? base.hook }
        set { own.hook = newValue }
    }
    /// The observer of attempts and decisions.
    public var observer: any CallObserver {
        get { own.observer ?? base.observer }
        set { own.observer = newValue }
    }
    /// The transport that moves bytes.
    public var transport: any HttpTransport {
        get { own.transport ?? base.transport }
        set { own.transport = newValue }
    }
    /// The transport that opens web sockets.
    public var webSocketTransport: any WebSocketTransport {
        get { own.webSocketTransport ?? base.webSocketTransport }
        set { own.webSocketTransport = newValue }
    }
    /// The clock that measures time and sleeps.
    public var clock: any Clock<Duration> {
        get { own.clock ?? base.clock }
        set { own.clock = newValue }
    }
    /// The most attempts of any call.
    public var maxAttempts: Int {
        get { own.maxAttempts ?? base.maxAttempts }
        set { own.maxAttempts = newValue }
    }
    /// How long one exchange may take if its request declares no timeout of its own; nil for no limit.
    public var timeout: Duration? {
        get { own.timeout ?? base.timeout }
        set { own.timeout = .some(newValue) }
    }
    /// How long a whole call may take if its request declares no deadline of its own; nil for no limit.
    public var deadline: Duration? {
        get { own.deadline ?? base.deadline }
        set { own.deadline = .some(newValue) }
    }
    /// How JSON is written and read.
    public var coders: JsonCoders {
        get { own.coders ?? base.coders }
        set { own.coders = newValue }
    }
}

extension HttpService {
    /// This service with some properties replaced; the others are still read from it.
    ///
    /// ```swift
    /// let underTest = NotesService(.staging).with {
    ///     $0.transport = scripted
    ///     $0.interceptors.append(LoggingInterceptor())
    /// }
    /// ```
    /// Calls keep the service's typed error. A changed service can be changed again; the last change counts.
    ///
    /// - Parameter change: Sets properties. It is called once, immediately.
    /// - Throws: Any error that `change` throws.
    public func with<Failure: Error>(
        _ change: (inout ServiceConfiguration) throws(Failure) -> Void
    ) throws(Failure) -> AnyHttpService<RequestError> {
        let erased = AnyHttpService(self)
        var configuration = ServiceConfiguration(erased.forwarded)
        try change(&configuration)
        return AnyHttpService(OverridingService(base: erased, own: configuration.own))
    }
}

/// The replaced properties of a service; nil for each that is still the base's.
private struct Overrides {
    var apiUrl: (any UrlConvertible)?
    var usesSecureProtocol: Bool?
    var header: HttpHeader = [:]
    var asyncHeader: (@Sendable () async throws -> HttpHeader)?
    var interceptors: [any HttpInterceptor]?
    var retrierFactory: (any RetrierFactory)?
    var hedging: Hedging??
    var hook: (any ServiceHook)?
    var observer: (any CallObserver)?
    var transport: (any HttpTransport)?
    var webSocketTransport: (any WebSocketTransport)?
    var clock: (any Clock<Duration>)?
    var maxAttempts: Int?
    var timeout: Duration??
    var deadline: Duration??
    var coders: JsonCoders?
}

/// A service that is another one, except for the replaced properties.
private struct OverridingService<RequestError: Error>: ForwardingService {
    let base: AnyHttpService<RequestError>
    let own: Overrides

    var forwarded: any HttpService { base.forwarded }

    var apiUrl: any UrlConvertible { own.apiUrl ?? forwarded.apiUrl }
    var usesSecureProtocol: Bool { own.usesSecureProtocol ?? forwarded.usesSecureProtocol }
    var header: HttpHeader { forwarded.header.merging(own.header) }
    // Asynchronous fields override the others, so the replaced fields have to be applied here once more.
    var asyncHeader: HttpHeader {
        get async throws {
            let header = try await forwarded.asyncHeader.merging(own.header)
            guard let asyncHeader = own.asyncHeader else { return header }
            return try await header.merging(asyncHeader())
        }
    }
    var interceptors: [any HttpInterceptor] { own.interceptors ?? forwarded.interceptors }
    var retrierFactory: any RetrierFactory { own.retrierFactory ?? forwarded.retrierFactory }
    var hedging: Hedging? { own.hedging ?? forwarded.hedging }
    var hook: any ServiceHook { own.hook ?? forwarded.hook }
    var observer: any CallObserver { own.observer ?? forwarded.observer }
    var transport: any HttpTransport { own.transport ?? forwarded.transport }
    var webSocketTransport: any WebSocketTransport { own.webSocketTransport ?? forwarded.webSocketTransport }
    var clock: any Clock<Duration> { own.clock ?? forwarded.clock }
    var maxAttempts: Int { own.maxAttempts ?? forwarded.maxAttempts }
    var timeout: Duration? { own.timeout ?? forwarded.timeout }
    var deadline: Duration? { own.deadline ?? forwarded.deadline }
    var coders: JsonCoders { own.coders ?? forwarded.coders }

    var selectedService: AnyHttpService<RequestError>? {
        base.selectedService.map { AnyHttpService(OverridingService(base: $0, own: own)) }
    }

    func mapError(_ error: HttpError) -> RequestError { base.mapError(error) }
}
