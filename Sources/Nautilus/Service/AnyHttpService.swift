/// A service from values, or any service with its type erased.
///
/// ```swift
/// let service = AnyHttpService(apiUrl: "api.example.com", retrierFactory: BackoffRetrier.factory())
///
/// var notes: AnyHttpService<NotesError> = AnyHttpService(NotesService(.staging))  // production, the next time
/// ```
/// Only the error's type remains, so that calls keep their typed errors.
public struct AnyHttpService<RequestError: Error>: ConfiguredService {
    private let service: any HttpService
    private let map: @Sendable (HttpError) -> RequestError

    /// Erases the type of `service`.
    public init<S: HttpService>(_ service: S) where S.RequestError == RequestError {
        self.service = service
        self.map = { service.mapError($0) }
    }

    /// The erased service's.
    public var configuration: ServiceConfiguration {
        service.configuration.forwardingMapping(of: service, to: Self.self)
    }

    /// The erased service's.
    public func mapError(_ error: HttpError) -> RequestError { map(error) }
}

extension AnyHttpService: Redacted {
    /// The origin of the service's calls, without path and query, which may hold a key.
    public var description: String {
        let configuration = configuration
        let base = try? BaseUrlMemo.shared.base(configuration.apiUrl, isSecure: configuration.usesSecureProtocol)
        return "AnyHttpService(\(base?.origin.description ?? "no valid URL"))"
    }
}

extension AnyHttpService where RequestError == HttpError {
    /// Creates a service from values, each as in ``HttpService`` and with the same default. Other properties are set
    /// with ``HttpService/with(_:)``.
    public init(
        apiUrl: any UrlConvertible,
        header: HttpHeader = [:],
        interceptors: [any HttpInterceptor] = [],
        retrierFactory: any RetrierFactory = .never,
        transport: any HttpTransport = .platform,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.init(
            ServiceValues(
                apiUrl: apiUrl,
                header: header,
                interceptors: interceptors,
                retrierFactory: retrierFactory,
                transport: transport,
                clock: clock
            )
        )
    }
}

/// The names that other libraries use, for which the compiler suggests ours. For other labels it does so by itself.
extension AnyHttpService where RequestError == HttpError {
    /// Another name of ``init(apiUrl:header:interceptors:retrierFactory:transport:clock:)``, which the compiler
    /// corrects.
    @available(*, unavailable, renamed: "init(apiUrl:header:interceptors:retrierFactory:transport:clock:)")
    public init(
        baseURL: any UrlConvertible,
        header: HttpHeader = [:],
        interceptors: [any HttpInterceptor] = [],
        retrierFactory: any RetrierFactory = .never,
        transport: any HttpTransport = .platform,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.init(apiUrl: baseURL)
    }

    /// Another name of ``init(apiUrl:header:interceptors:retrierFactory:transport:clock:)``, which the compiler
    /// corrects.
    @available(*, unavailable, renamed: "init(apiUrl:header:interceptors:retrierFactory:transport:clock:)")
    public init(
        baseUrl: any UrlConvertible,
        header: HttpHeader = [:],
        interceptors: [any HttpInterceptor] = [],
        retrierFactory: any RetrierFactory = .never,
        transport: any HttpTransport = .platform,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.init(apiUrl: baseUrl)
    }
}

/// A service that is nothing but its values.
private struct ServiceValues: HttpService {
    let apiUrl: any UrlConvertible
    let header: HttpHeader
    let interceptors: [any HttpInterceptor]
    let retrierFactory: any RetrierFactory
    let transport: any HttpTransport
    let clock: any Clock<Duration>
}
