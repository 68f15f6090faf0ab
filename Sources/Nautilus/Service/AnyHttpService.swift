/// A service from values, or any service with its type erased.
///
/// ```swift
/// let service = AnyHttpService(apiUrl: "api.example.com", retrierFactory: BackoffRetrier.factory())
///
/// var notes: AnyHttpService<NotesError> = AnyHttpService(NotesService(.staging))  // production, the next time
/// ```
/// Only the error's type remains, so that calls keep their typed errors.
public struct AnyHttpService<RequestError: Error>: HttpService {
    private let base: any HttpService
    private let map: @Sendable (HttpError) -> RequestError
    private let select: @Sendable () -> AnyHttpService?

    /// Erases the type of `service`. Its properties are still read again whenever the service's would be.
    public init<S: HttpService>(_ service: S) where S.RequestError == RequestError {
        self.base = service
        self.map = { service.mapError($0) }
        self.select = { service.selectedService }
    }

    /// The base service's.
    public var apiUrl: any UrlConvertible { base.apiUrl }
    /// The base service's.
    public var usesSecureProtocol: Bool { base.usesSecureProtocol }
    /// The base service's.
    public var header: HttpHeader { base.header }
    /// The base service's.
    public var asyncHeader: HttpHeader { get async throws { try await base.asyncHeader } }
    /// The base service's.
    public var interceptors: [any HttpInterceptor] { base.interceptors }
    /// The base service's.
    public var retrierFactory: any RetrierFactory { base.retrierFactory }
    /// The base service's.
    public var hedging: Hedging? { base.hedging }
    /// The base service's.
    public var hook: any ServiceHook { base.hook }
    /// The base service's.
    public var observer: any CallObserver { base.observer }
    /// The base service's.
    public var transport: any HttpTransport { base.transport }
    /// The base service's.
    public var webSocketTransport: any WebSocketTransport { base.webSocketTransport }
    /// The base service's.
    public var clock: any Clock<Duration> { base.clock }
    /// The base service's.
    public var maxAttempts: Int { base.maxAttempts }
    /// The base service's.
    public var selectedService: AnyHttpService? { select() }

    /// The base service's.
    public func mapError(_ error: HttpError) -> RequestError { map(error) }
}

extension AnyHttpService {
    /// The service that all which begins now is made with.
    var final: AnyHttpService {
        var service = self
        while let selected = service.selectedService { service = selected }
        return service
    }
}

extension AnyHttpService: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The origin of its calls; neither path nor query, which may hold a key.
    public var description: String {
        let base = try? BaseUrlMemo.shared.base(apiUrl, isSecure: usesSecureProtocol)
        return "AnyHttpService(\(base?.origin.description ?? "no valid URL"))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the description: `dump` leaks nothing either.
    public var customMirror: Mirror { Mirror(self, children: ["service": description]) }
}

extension AnyHttpService where RequestError == HttpError {
    /// Creates a service from values; every parameter is as in ``HttpService``, with the same default, which is what
    /// nil means for `webSocketTransport`.
    public init(
        apiUrl: any UrlConvertible,
        usesSecureProtocol: Bool = true,
        header: HttpHeader = [:],
        interceptors: [any HttpInterceptor] = [],
        retrierFactory: any RetrierFactory = NilRetrier.factory(),
        hedging: Hedging? = nil,
        hook: any ServiceHook = NilServiceHook(),
        observer: any CallObserver = NilCallObserver(),
        transport: any HttpTransport = PlatformTransport.shared,
        webSocketTransport: (any WebSocketTransport)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        maxAttempts: Int = 100,
        asyncHeader: @escaping @Sendable () async throws -> HttpHeader = { [:] }
    ) {
        self.init(
            ServiceValues(
                apiUrl: apiUrl,
                usesSecureProtocol: usesSecureProtocol,
                header: header,
                interceptors: interceptors,
                retrierFactory: retrierFactory,
                hedging: hedging,
                hook: hook,
                observer: observer,
                transport: transport,
                givenWebSocketTransport: webSocketTransport,
                clock: clock,
                maxAttempts: maxAttempts,
                makeAsyncHeader: asyncHeader
            )
        )
    }
}

/// A service that is nothing but its values.
private struct ServiceValues: HttpService {
    let apiUrl: any UrlConvertible
    let usesSecureProtocol: Bool
    let header: HttpHeader
    let interceptors: [any HttpInterceptor]
    let retrierFactory: any RetrierFactory
    let hedging: Hedging?
    let hook: any ServiceHook
    let observer: any CallObserver
    let transport: any HttpTransport
    let givenWebSocketTransport: (any WebSocketTransport)?
    let clock: any Clock<Duration>
    let maxAttempts: Int
    let makeAsyncHeader: @Sendable () async throws -> HttpHeader

    var asyncHeader: HttpHeader { get async throws { try await makeAsyncHeader() } }
    var webSocketTransport: any WebSocketTransport { givenWebSocketTransport ?? platformWebSocketTransport }
}
