/// The place that calls go to, and the rules that they follow: an API, declared once.
///
/// ```swift
/// struct Staging {}
/// extension Staging: HttpService {
///     var apiUrl: any UrlConvertible { "staging.example.com/v1" }
///     var retrierFactory: any RetrierFactory { BackoffRetrier.factory() }
/// }
/// let note = try await GetNote(id: 7).schedule(with: Staging())
/// ```
public protocol HttpService<RequestError>: Sendable {
    /// The error that calls throw. Default: ``HttpError``.
    associatedtype RequestError: Error = HttpError

    /// The base URL, with or without scheme, port and path. A scheme in it overrides ``usesSecureProtocol``.
    ///
    /// A call belongs to the base URL that it began with, as do the pages of a list and the connections of a stream. If
    /// this property returns another origin or path later, they fail with ``FailureKind/environmentChanged(_:)``.
    /// Another query counts for calls that begin from then on.
    var apiUrl: any UrlConvertible { get }
    /// Whether a base URL without scheme means `https`. Default: true.
    var usesSecureProtocol: Bool { get }
    /// Header fields for every request, read again for every attempt. Default: none.
    var header: HttpHeader { get }
    /// Header fields that take time to get, read again for every attempt; they override ``header``. Default: none.
    ///
    /// - Throws: Any error; it becomes the attempt's failure. An error of your own becomes the underlying error of a
    ///   failure of kind `custom`; errors of the framework and of URL loading, and cancellations, keep their kind.
    var asyncHeader: HttpHeader { get async throws }
    /// The interceptors, of both kinds, each kind in the order of its stages, and outermost first within a stage.
    /// Default: none.
    var interceptors: [any HttpInterceptor] { get }
    /// The factory of each call's retrier. Default: `.never`, no retries, since they are for an author to choose.
    var retrierFactory: any RetrierFactory { get }
    /// The hook that looks at calls as a whole. Default: one that does nothing.
    var hook: any ServiceHook { get }
    /// The observer of attempts and decisions. Default: none, at no cost.
    var observer: any CallObserver { get }
    /// The transport that moves bytes. Default: `.platform`, URL loading on Apple's platforms and libcurl on Linux.
    var transport: any HttpTransport { get }
    /// The transport that opens web sockets. Default: URL loading's on Apple's platforms and libcurl's on Linux;
    /// one that only fails where neither is available.
    var webSocketTransport: any WebSocketTransport { get }
    /// The clock that measures time and sleeps. Default: `ContinuousClock`, which keeps running while the machine
    /// sleeps.
    var clock: any Clock<Duration> { get }
    /// The most attempts of any call, whatever its retrier says. The repetition after a refresh is an attempt, too, so
    /// with 1 an expired credential is a failure. Default: 100, far above sensible retriers and far below an endless
    /// loop.
    var maxAttempts: Int { get }
    /// How long one exchange may take if its request declares no ``Request/timeout`` of its own; nil for no limit.
    ///
    /// Default: 60 s, as in Apple's URL loading system, since a silent server must not hold a call for ever.
    var timeout: Duration? { get }
    /// How long a whole call may take, with all its attempts and delays, if its request declares no
    /// ``Request/deadline`` of its own. It does not apply to a request whose body is read as it arrives, such as a
    /// download or a feed, nor to web sockets.
    ///
    /// Default: nil, no limit, since most callers end a call by cancelling it. With the default timeout and four
    /// attempts, a server that is silent holds a call for four minutes.
    var deadline: Duration? { get }
    /// How JSON is written and read in bodies, results, events, messages and the refusals that
    /// ``HttpError/responseBody(as:decoder:)`` reads. Default: ``JsonCoders/standard``.
    ///
    /// A request's own `encoder` or `decoder` takes precedence.
    var coders: JsonCoders { get }
    /// A field by which this API says how long to wait, besides those that ``HttpHeader/retryAfter(now:)`` knows.
    /// Default: nil, there is none.
    ///
    /// Its value counts wherever a `Retry-After` does, and the longest of all counts: it is added to the answer's
    /// header as `retry-after-ms`.
    var retryAfterField: RetryAfterField? { get }
    /// All of the above, read once, when a call is bound. Default: reads the properties.
    ///
    /// A ``ConfiguredService`` declares it instead of them, such as one that stands for another service.
    var configuration: ServiceConfiguration { get }

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
    public var retrierFactory: any RetrierFactory { .never }
    /// No hook.
    public var hook: any ServiceHook { NilServiceHook() }
    /// No observer.
    public var observer: any CallObserver { .none }
    /// The platform's shared transport.
    public var transport: any HttpTransport { .platform }
    /// The platform's web sockets, where it has some.
    public var webSocketTransport: any WebSocketTransport { platformWebSockets }
    /// The continuous clock.
    public var clock: any Clock<Duration> { DefaultClock.current }
    /// 100.
    public var maxAttempts: Int { 100 }
    /// 60 s.
    public var timeout: Duration? { .seconds(60) }
    /// No limit.
    public var deadline: Duration? { nil }
    /// Foundation's defaults.
    public var coders: JsonCoders { .standard }
    /// No further field.
    public var retryAfterField: RetryAfterField? { nil }
    /// The service's own properties.
    public var configuration: ServiceConfiguration { ServiceConfiguration(reading: self) }
}

extension HttpService where RequestError == HttpError {
    /// The error as it is.
    public func mapError(_ error: HttpError) -> HttpError { error }
}
