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
