/// The properties of a service; ``HttpService/with(_:)`` replaces them one by one.
///
/// Until a property is set, it has the service's value, which is still read again whenever the service's would be.
public struct ServiceConfiguration: Sendable {
    private let base: any HttpService
    fileprivate var own = Overrides()
    /// Whether a value of the service has been read that belongs to the environment which is selected now.
    private let hasRead = Locked(false)

    fileprivate init(_ base: any HttpService) {
        self.base = base
    }

    /// The service, of which a value is about to be read that belongs to an environment.
    private var environment: any HttpService {
        hasRead.withLock { $0 = true }
        return base
    }

    /// The replaced properties.
    ///
    /// - Parameter environment: Where the values that were read come from; nil if the service follows no switch.
    fileprivate func overrides(in environment: ServiceEnvironment?) -> Overrides {
        var own = own
        if hasRead.withLock({ $0 }) { (own.environment, own.wasRead) = (environment, true) }
        return own
    }

    /// The base URL. The service's credentials go there, too, since a retrier considers the service's origin to be
    /// theirs. For another environment, also set a session of its own.
    public var apiUrl: any UrlConvertible {
        get { own.apiUrl ?? environment.apiUrl }
        set { own.apiUrl = newValue }
    }
    /// Whether a base URL without scheme means `https`.
    public var usesSecureProtocol: Bool {
        get { own.usesSecureProtocol ?? environment.usesSecureProtocol }
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
        get { own.interceptors ?? environment.interceptors }
        set { own.interceptors = newValue }
    }
    /// The factory of retriers, authorization included. To add a retrier, compose its factory with this one.
    public var retrierFactory: any RetrierFactory {
        get { own.retrierFactory ?? environment.retrierFactory }
        set { own.retrierFactory = newValue }
    }
    /// When a slow request is sent a second time; nil for never.
    public var hedging: Hedging? {
        get { own.hedging ?? environment.hedging }
        set { own.hedging = .some(newValue) }
    }
    /// The hook that looks at calls as a whole.
    public var hook: any ServiceHook {
        get { own.hook ?? environment.hook }
        set { own.hook = newValue }
    }
    /// The observer of attempts and decisions.
    public var observer: any CallObserver {
        get { own.observer ?? environment.observer }
        set { own.observer = newValue }
    }
    /// The transport that moves bytes.
    public var transport: any HttpTransport {
        get { own.transport ?? environment.transport }
        set { own.transport = newValue }
    }
    /// The transport that opens web sockets.
    public var webSocketTransport: any WebSocketTransport {
        get { own.webSocketTransport ?? environment.webSocketTransport }
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
    /// A further field that says how long to wait; nil for none.
    public var retryAfterField: RetryAfterField? {
        get { own.retryAfterField ?? base.retryAfterField }
        set { own.retryAfterField = .some(newValue) }
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
    /// A switch is changed by ``ServiceSwitch/with(_:)``, or where it makes each environment's service. Where its type
    /// is hidden, as in an ``AnyHttpService``, what `change` has read of the service belongs to the environment that
    /// was selected then, such as the interceptors to which it adds one: calls that begin in another one fail with
    /// ``InvalidRequest/baseUrl(reason:)``, and nothing is sent. Environments of a ``ServiceSwitch`` are told apart
    /// however much they have in common; those of another service that has a `selectedService`, also within a switch,
    /// by their base URLs without the query. A service whose own properties follow a switch cannot be told from one
    /// that moves: what is read of it goes along.
    ///
    /// - Parameter change: Sets properties. It is called once, immediately.
    /// - Throws: Any error that `change` throws.
    public func with<Failure: Error>(
        _ change: (inout ServiceConfiguration) throws(Failure) -> Void
    ) throws(Failure) -> AnyHttpService<RequestError> {
        let erased = AnyHttpService(self)
        // Chosen once: another environment may be selected while `change` reads.
        let selected = erased.selectedService?.final
        var configuration = ServiceConfiguration((selected ?? erased).forwarded)
        try change(&configuration)
        let own = configuration.overrides(in: selected.map { ServiceEnvironment(of: $0) })
        return AnyHttpService(OverridingService(base: erased, own: own))
    }
}

extension ServiceSwitch {
    /// This switch with some properties of each environment's service replaced; a call still goes to the environment
    /// that is selected when it begins.
    ///
    /// ```swift
    /// let logged = sites.with { $0.interceptors.append(LoggingInterceptor()) }
    /// ```
    /// - Parameter change: Sets properties. It is called for each environment when that one's service is first needed,
    ///   with the properties of that service: nothing of one environment gets into another. If two threads need it at
    ///   the same time, it may be called twice; one of the two services is then dropped unused.
    public func with(
        _ change: @escaping @Sendable (inout ServiceConfiguration) -> Void
    ) -> ChangedServiceSwitch<Environment, Service> {
        ChangedServiceSwitch(base: self, change: change)
    }
}

/// A switch whose services are changed, each once; see ``ServiceSwitch/with(_:)``.
public struct ChangedServiceSwitch<Environment: Hashable & Sendable, Service: HttpService>: ForwardingService {
    /// The error that calls throw, which is the services' own.
    public typealias RequestError = Service.RequestError

    private let base: ServiceSwitch<Environment, Service>
    private let change: @Sendable (inout ServiceConfiguration) -> Void
    /// The replaced properties for each environment; its other properties are read anew for each call.
    private let changed = Locked<[ServiceEnvironment: Overrides]>([:])

    fileprivate init(
        base: ServiceSwitch<Environment, Service>,
        change: @escaping @Sendable (inout ServiceConfiguration) -> Void
    ) {
        (self.base, self.change) = (base, change)
    }

    /// This switch with further properties replaced; the last change counts.
    public func with(_ change: @escaping @Sendable (inout ServiceConfiguration) -> Void) -> ChangedServiceSwitch {
        ChangedServiceSwitch(base: base) { [first = self.change] configuration in
            first(&configuration)
            change(&configuration)
        }
    }

    private var present: AnyHttpService<Service.RequestError> {
        // An environment may be a switch itself.
        let selected = base.entry(for: base.selected).erased.final
        let environment = ServiceEnvironment(of: selected)
        if let known = changed.withLock({ $0[environment] }) {
            return AnyHttpService(OverridingService(base: selected, own: known))
        }
        // Not under the lock, since this calls the user's own code.
        var configuration = ServiceConfiguration(selected.forwarded)
        change(&configuration)
        let own = configuration.overrides(in: nil)
        let first = changed.withLock { changed in
            // More than any app has environments: base URLs that never come back must not fill the memory.
            if changed.count >= 1_000 { changed = [:] }
            let first = changed[environment] ?? own
            changed[environment] = first
            return first
        }
        return AnyHttpService(OverridingService(base: selected, own: first))
    }

    /// The selected environment's service, changed.
    public var forwarded: any HttpService { present }
    /// The selected environment's service, changed, which calls that begin now stay with.
    public var selectedService: AnyHttpService<Service.RequestError>? { present }
    /// The selected service's.
    public func mapError(_ error: HttpError) -> Service.RequestError { present.mapError(error) }
}

extension ChangedServiceSwitch: Redacted {
    /// The present origin of the switch's calls, without path and query, which may hold a key.
    public var description: String { "ChangedServiceSwitch(\(present))" }
}

/// The replaced properties of a service; nil for each that is still the base's.
private struct Overrides {
    /// Whether they were made from values that belong to an environment.
    var wasRead = false
    /// The environment of those values, the only one in which they apply; nil if none was selected then.
    var environment: ServiceEnvironment?
    /// Whether they were made from values that were read while nothing was selected, and something is now.
    var isElsewhere = false
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
    var retryAfterField: RetryAfterField??
}

/// A service that is another one, except for the replaced properties.
private struct OverridingService<RequestError: Error>: ForwardingService {
    let base: AnyHttpService<RequestError>
    let own: Overrides

    var forwarded: any HttpService { base.forwarded }

    /// Whether the replaced properties were made for another environment.
    private var isElsewhere: Bool {
        own.isElsewhere || own.environment.map { $0 != ServiceEnvironment(of: base.final) } ?? false
    }

    var apiUrl: any UrlConvertible {
        guard own.wasRead || own.apiUrl != nil else { return forwarded.apiUrl }
        if isElsewhere { return RefusedBaseUrl.changedElsewhere }
        let url = forwarded.apiUrl
        if type(of: url) == RefusedBaseUrl.self { return url }
        return own.apiUrl ?? url
    }
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
    // The environment's own are told that a call is refused, and no others.
    var hook: any ServiceHook {
        guard let hook = own.hook, !isElsewhere else { return forwarded.hook }
        return hook
    }
    var observer: any CallObserver {
        guard let observer = own.observer, !isElsewhere else { return forwarded.observer }
        return observer
    }
    var transport: any HttpTransport { own.transport ?? forwarded.transport }
    var webSocketTransport: any WebSocketTransport { own.webSocketTransport ?? forwarded.webSocketTransport }
    var clock: any Clock<Duration> { own.clock ?? forwarded.clock }
    var maxAttempts: Int { own.maxAttempts ?? forwarded.maxAttempts }
    var timeout: Duration? { own.timeout ?? forwarded.timeout }
    var deadline: Duration? { own.deadline ?? forwarded.deadline }
    var coders: JsonCoders { own.coders ?? forwarded.coders }
    var retryAfterField: RetryAfterField? { own.retryAfterField ?? forwarded.retryAfterField }

    var selectedService: AnyHttpService<RequestError>? {
        base.selectedService.map { selected in
            var own = own
            if own.wasRead, own.environment == nil { own.isElsewhere = true }
            return AnyHttpService(OverridingService(base: selected, own: own))
        }
    }

    func mapError(_ error: HttpError) -> RequestError { base.mapError(error) }
}
