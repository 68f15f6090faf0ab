/// A service that is another one, except for the properties that it declares itself.
///
/// ```swift
/// struct NotesService {
///     let api: AnyHttpService<HttpError>
///     let session: Session<ApiToken>
/// }
/// extension NotesService: ForwardingService {
///     var forwarded: any HttpService { api }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// Properties that are added to ``HttpService`` later are forwarded as well, which a wrapper written by hand would
/// miss.
public protocol ForwardingService<RequestError>: HttpService {
    /// The wrapped service, which supplies every property that this one does not declare. Read again for each property.
    var forwarded: any HttpService { get }

    // Neither has a default here: both concern the error's type, which is the wrapping service's.

    /// The service that the wrapped one has selected, wrapped in the same way. Default: nil, no other service; declare
    /// it if you wrap a ``ServiceSwitch``.
    var selectedService: AnyHttpService<RequestError>? { get }
    /// The wrapping service's error for `error`. Default where it is ``HttpError``: the error as it is.
    func mapError(_ error: HttpError) -> RequestError
}

extension ForwardingService {
    /// The wrapped service's.
    public var apiUrl: any UrlConvertible { forwarded.apiUrl }
    /// The wrapped service's.
    public var usesSecureProtocol: Bool { forwarded.usesSecureProtocol }
    /// The wrapped service's.
    public var header: HttpHeader { forwarded.header }
    /// The wrapped service's.
    public var asyncHeader: HttpHeader { get async throws { try await forwarded.asyncHeader } }
    /// The wrapped service's.
    public var interceptors: [any HttpInterceptor] { forwarded.interceptors }
    /// The wrapped service's.
    public var retrierFactory: any RetrierFactory { forwarded.retrierFactory }
    /// The wrapped service's.
    public var hedging: Hedging? { forwarded.hedging }
    /// The wrapped service's.
    public var hook: any ServiceHook { forwarded.hook }
    /// The wrapped service's.
    public var observer: any CallObserver { forwarded.observer }
    /// The wrapped service's.
    public var transport: any HttpTransport { forwarded.transport }
    /// The wrapped service's.
    public var webSocketTransport: any WebSocketTransport { forwarded.webSocketTransport }
    /// The wrapped service's.
    public var clock: any Clock<Duration> { forwarded.clock }
    /// The wrapped service's.
    public var maxAttempts: Int { forwarded.maxAttempts }
    /// The wrapped service's.
    public var timeout: Duration? { forwarded.timeout }
    /// The wrapped service's.
    public var deadline: Duration? { forwarded.deadline }
    /// The wrapped service's.
    public var coders: JsonCoders { forwarded.coders }
    /// The wrapped service's.
    public var retryAfterField: RetryAfterField? { forwarded.retryAfterField }
    /// The wrapped service's.
    public var isSignedOut: Bool { forwarded.isSignedOut }
}

/// A service for derived requests, whose retriers are made for the declared request and asked about that one.
package struct DerivedService<S: HttpService, Base: Request>: ForwardingService {
    package typealias RequestError = S.RequestError

    package let service: S
    package let base: Base
    /// Tells which failures are followed by another attempt immediately, whatever the retrier says. Default: none.
    private let repeats: @Sendable (HttpError) -> Bool

    package init(service: S, base: Base, repeats: @escaping @Sendable (HttpError) -> Bool = { _ in false }) {
        (self.service, self.base, self.repeats) = (service, base, repeats)
    }

    package var forwarded: any HttpService { service }
    package var retrierFactory: any RetrierFactory {
        AnyRetrierFactory(DerivedRetrierFactory(factory: service.retrierFactory, base: base, repeats: repeats))
    }
    // The call that the derived request belongs to has already chosen its service.
    package var selectedService: AnyHttpService<S.RequestError>? { nil }

    package func mapError(_ error: HttpError) -> S.RequestError { service.mapError(error) }
}

/// Makes the retriers of derived requests.
private struct DerivedRetrierFactory<Base: Request>: RetrierFactory {
    let factory: any RetrierFactory
    let base: Base
    let repeats: @Sendable (HttpError) -> Bool

    func create<R: Request>(for request: R) -> any Retrier {
        DerivedRetrier(retrier: factory.create(for: base), base: base, repeats: repeats)
    }

    var descriptions: [RetryDescription] { factory.descriptions }
    var signedOut: any RetrierFactory {
        DerivedRetrierFactory(factory: factory.signedOut, base: base, repeats: repeats)
    }
}

/// Passes everything on to the service's retrier, with the declared request in place of the derived one.
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
