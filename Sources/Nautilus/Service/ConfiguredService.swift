/// A service that declares its configuration as a whole, most often another service's with some changes.
/// ```swift
/// struct NotesService { let api: AnyHttpService<HttpError>, session: Session<ApiToken> }
/// extension NotesService: ConfiguredService {
///     var configuration: ServiceConfiguration {
///         api.configuration.with { $0.retrierFactory = session.retrierFactory }
///     }
/// }
/// ```
/// All its other properties are those of the configuration, so do not declare them: calls would not ask for them.
public protocol ConfiguredService<RequestError>: HttpService {
    /// The configuration that a call goes by, read once, when it is bound.
    var configuration: ServiceConfiguration { get }
}

extension ConfiguredService {
    /// Has to be declared: there is no other service whose configuration it could be.
    @available(*, unavailable, message: "declare `configuration`, for instance as another service's with changes")
    public var configuration: ServiceConfiguration { ServiceConfiguration(reading: self) }
    /// The configuration's.
    public var apiUrl: any UrlConvertible { configuration.apiUrl }
    /// The configuration's.
    public var usesSecureProtocol: Bool { configuration.usesSecureProtocol }
    /// The fields of the service that was configured, and those that were added to it.
    public var header: HttpHeader { configuration.presentHeader }
    /// The asynchronous fields of the service that was configured, and those that were added to it.
    public var asyncHeader: HttpHeader { get async throws { try await configuration.presentAsyncHeader } }
    /// The configuration's.
    public var interceptors: [any HttpInterceptor] { configuration.interceptors }
    /// The configuration's.
    public var retrierFactory: any RetrierFactory { configuration.presentRetrierFactory }
    /// The configuration's.
    public var hook: any ServiceHook { configuration.hook }
    /// The configuration's.
    public var observer: any CallObserver { configuration.observer }
    /// The configuration's.
    public var transport: any HttpTransport { configuration.transport }
    /// The configuration's.
    public var webSocketTransport: any WebSocketTransport { configuration.webSocketTransport }
    /// The configuration's.
    public var clock: any Clock<Duration> { configuration.clock }
    /// The configuration's.
    public var maxAttempts: Int { configuration.maxAttempts }
    /// The configuration's.
    public var timeout: Duration? { configuration.timeout }
    /// The configuration's.
    public var deadline: Duration? { configuration.deadline }
    /// The configuration's.
    public var coders: JsonCoders { configuration.coders }
    /// The configuration's.
    public var retryAfterField: RetryAfterField? { configuration.retryAfterField }
}
