/// The values of a service, read once, when a call is bound: what the call goes by until its end.
///
/// Only header fields are read again, for each attempt. ``HttpService/with(_:)`` changes single values, and a service
/// that stands for another one, such as a `ServiceSwitch`, has that one's configuration.
public struct ServiceConfiguration: Sendable {
    /// The base URL. The service's credentials go there, too, since a retrier considers the service's origin to be
    /// theirs. For another environment, also set a session of its own.
    public var apiUrl: any UrlConvertible
    /// Whether a base URL without scheme means `https`.
    public var usesSecureProtocol: Bool
    /// Header fields that are added to the service's; they override all fields of the service, including the
    /// asynchronous ones. None at first.
    public var header: HttpHeader = [:]
    /// Makes header fields that take time to get, again for every attempt; they override all others. Nil at first: only
    /// the service's.
    public var asyncHeader: (@Sendable () async throws -> HttpHeader)?
    /// The interceptors. To add one, append it; to take one away, remove all of its type.
    public var interceptors: [any HttpInterceptor]
    /// The factory of retriers, authorization included. To add a retrier, compose its factory with this one.
    public var retrierFactory: any RetrierFactory
    /// The hook that looks at calls as a whole.
    public var hook: any ServiceHook
    /// The observer of attempts and decisions.
    public var observer: any CallObserver
    /// The transport that moves bytes.
    public var transport: any HttpTransport
    /// The transport that opens web sockets.
    public var webSocketTransport: any WebSocketTransport
    /// The clock that measures time and sleeps.
    public var clock: any Clock<Duration>
    /// The most attempts of any call.
    public var maxAttempts: Int
    /// How long one exchange may take if its request declares no timeout of its own; nil for no limit.
    public var timeout: Duration?
    /// How long a whole call may take if its request declares no deadline of its own; nil for no limit.
    public var deadline: Duration?
    /// How JSON is written and read.
    public var coders: JsonCoders
    /// A further field that says how long to wait; nil for none.
    public var retryAfterField: RetryAfterField?
    /// Whether all calls are anonymous: they carry no session's credential, and share nothing that is kept separately
    /// for each user.
    public internal(set) var isAnonymous = false
    /// How the errors of a service are mapped where that is another one's business, such as that of the environment in
    /// which the call began; nil where it is the service's own.
    package var mapping: ErrorMapping?

    /// The service whose header is read for each attempt, and which may move meanwhile.
    private let service: any HttpService
    /// The service that was read, whose properties are the declared ones.
    package var declared: any HttpService { service }
    /// Where the service was when it was read.
    private let place: (url: String, isSecure: Bool)

    /// Reads a service.
    ///
    /// The values belong together if the service is still at the same place afterwards. A call checks this once its
    /// retrier has been made, and for each attempt's header.
    public init(reading service: some HttpService) {
        self.service = service
        (apiUrl, usesSecureProtocol) = (service.apiUrl, service.usesSecureProtocol)
        place = (apiUrl.urlString, usesSecureProtocol)
        (interceptors, retrierFactory) = (service.interceptors, service.retrierFactory)
        (hook, observer) = (service.hook, service.observer)
        (transport, webSocketTransport) = (service.transport, service.webSocketTransport)
        (clock, maxAttempts) = (service.clock, service.maxAttempts)
        (timeout, deadline) = (service.timeout, service.deadline)
        (coders, retryAfterField) = (service.coders, service.retryAfterField)
    }
}

extension ServiceConfiguration {
    /// The header fields of an attempt.
    ///
    /// - Throws: ``FailureKind/FailureKind.EnvironmentChange`` when the service has moved by the time that they are all
    ///   there; whatever the service's `asyncHeader` throws.
    func headers() async throws -> HttpHeader {
        let fields = service.header.merging(try await service.asyncHeader)
        try checkPlace()
        let added = if let asyncHeader { header.merging(try await asyncHeader()) } else { header }
        return fields.merging(added)
    }

    /// The mapping of `base` as that of a service around it.
    func forwardingMapping<Base: HttpService, Outer: HttpService>(of base: Base, to outer: Outer.Type) -> Self {
        guard var mapping, mapping.service == Base.self else { return self }
        mapping.service = Outer.self
        return with { $0.mapping = mapping }
    }

    /// The rules of second sends of the outermost interceptor that hedges; nil for none.
    var hedging: HedgingRules? {
        for interceptor in interceptors {
            if let hedging = interceptor.hedging { return hedging }
        }
        return nil
    }

    /// The retriers of the service's calls.
    var presentRetrierFactory: any RetrierFactory { isAnonymous ? retrierFactory.anonymous : retrierFactory }

    /// The service's present fields, with those that are added to them.
    var presentHeader: HttpHeader { service.header.merging(header) }

    /// The service's present asynchronous fields, with those that are added to them.
    var presentAsyncHeader: HttpHeader {
        get async throws {
            let fields = try await service.asyncHeader.merging(header)
            guard let asyncHeader else { return fields }
            return fields.merging(try await asyncHeader())
        }
    }

    /// These values with some of them changed.
    public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var configuration = self
        try change(&configuration)
        return configuration
    }

    /// Checks that the service is where it was when it was read. Its query may have changed, since it may be a
    /// signature.
    ///
    /// - Throws: ``FailureKind/FailureKind.EnvironmentChange``; ``HttpRequest/Invalid`` for a URL that cannot be read.
    func checkPlace() throws {
        let (url, isSecure) = (service.apiUrl.urlString, service.usesSecureProtocol)
        if isSecure == place.isSecure, url.hasSameBytes(as: place.url) { return }
        // A web socket's base may be `wss`.
        try BaseUrlMemo.shared.base(place.url.asHttpUrl, isSecure: place.isSecure)
            .check(BaseUrlMemo.shared.base(url.asHttpUrl, isSecure: isSecure))
    }

    /// The timeout of the exchanges of `request`.
    package func timeout(of request: some Request) -> Duration? {
        let timeout = request.timeout
        return timeout == .ofService ? self.timeout : timeout
    }

    /// The deadline of the calls of `request`.
    package func deadline(of request: some Request) -> Duration? {
        let deadline = request.deadline
        guard deadline == .ofService else { return deadline }
        return request.streamsResponse ? nil : self.deadline
    }

    /// The factory of the retrier for `request`: that for anonymous calls if the call is one.
    package func factory(for request: some Request) -> any RetrierFactory {
        makesAnonymous(request) ? retrierFactory.anonymous : retrierFactory
    }

    /// Whether a call of `request` is anonymous, because of the service or of the request itself.
    func makesAnonymous(_ request: some Request) -> Bool { isAnonymous || request.isAnonymous }
}

extension HttpService {
    /// This service with some values changed.
    ///
    /// ```swift
    /// let scripted = ScriptedTransport(.json(note))
    /// let underTest = NotesService(.staging).with { $0.transport = scripted }
    /// ```
    /// Calls keep the service's typed error. A changed service can be changed again; the last change counts. The change
    /// of a `ServiceSwitch` holds in whichever environment is selected when a call begins.
    ///
    /// - Parameter change: Sets values. It is called for each call, with the configuration of that moment, so make
    ///   objects that calls share outside of it: a transport, a breaker, a budget.
    public func with(
        _ change: @escaping @Sendable (inout ServiceConfiguration) -> Void
    ) -> AnyHttpService<RequestError> {
        AnyHttpService(ChangedService(base: self, change: change, mapsAsBase: true, map: mapError))
    }

    /// This service with anonymous calls: they carry no credential, even if somebody is signed in.
    ///
    /// Its retriers still retry; none is asked for its credentials.
    public var anonymous: AnyHttpService<RequestError> { with { $0.isAnonymous = true } }

    /// This service if somebody is signed in; otherwise ``anonymous``, so that its calls carry no credential.
    ///
    /// - Parameter isSignedIn: Whether somebody is signed in.
    public func anonymous(unless isSignedIn: Bool) -> AnyHttpService<RequestError> {
        isSignedIn ? AnyHttpService(self) : anonymous
    }

    /// This service with another error type: for a module that gets its service from the app, or has no service type of
    /// its own.
    ///
    /// ```swift
    /// let notes = AnyHttpService(apiUrl: "api.example.com/v1").mappingErrors { NotesError($0) }
    /// let note = try await GetNote(id: 7).schedule(with: notes)  // throws NotesError
    /// ```
    /// Everything else is this service's own.
    ///
    /// - Parameter map: Makes the error that calls throw. It replaces this service's ``mapError(_:)``, which is not
    ///   called.
    public func mappingErrors<Mapped: Error>(
        _ map: @escaping @Sendable (_ error: HttpError) -> Mapped
    ) -> AnyHttpService<Mapped> {
        AnyHttpService(ChangedService(base: self, change: { _ in }, mapsAsBase: false, map: map))
    }
}

/// The mapping of the errors of a service, as it was when a call began.
package struct ErrorMapping: Sendable {
    /// The type of the service whose calls it is for.
    var service: any HttpService.Type
    let map: @Sendable (HttpError) -> any Error

    package init(service: any HttpService.Type, map: @escaping @Sendable (HttpError) -> any Error) {
        (self.service, self.map) = (service, map)
    }
}

extension HttpService {
    /// The service's error for that of a call which was bound to `configuration`.
    package func mapped(_ error: HttpError, by configuration: ServiceConfiguration) -> RequestError {
        guard let mapping = configuration.mapping, mapping.service == Self.self,
            let mapped = mapping.map(error) as? RequestError
        else { return mapError(error) }
        return mapped
    }
}

/// Another service's configuration with a change, or with another error type.
struct ChangedService<RequestError: Error>: ConfiguredService {
    let base: any HttpService
    let change: @Sendable (inout ServiceConfiguration) -> Void
    /// Whether `map` is that of the base.
    let mapsAsBase: Bool
    let map: @Sendable (HttpError) -> RequestError

    var configuration: ServiceConfiguration {
        let own = base.configuration
        // Changes add to the header, each on top of the earlier ones.
        var changed = own
        (changed.header, changed.asyncHeader) = ([:], nil)
        change(&changed)
        changed.header = own.header.merging(changed.header)
        if let first = own.asyncHeader {
            let second = changed.asyncHeader
            changed.asyncHeader = { try await first().merging(try await second?() ?? [:]) }
        }
        return mapsAsBase ? changed.forwardingMapping(of: base, to: Self.self) : changed
    }

    func mapError(_ error: HttpError) -> RequestError { map(error) }
}

/// A service as it was when a list or a stream began, which all of its calls keep to.
package struct BoundService<RequestError: Error>: ConfiguredService {
    package let configuration: ServiceConfiguration
    private let map: @Sendable (HttpError) -> RequestError

    package init<S: HttpService>(_ service: S) where S.RequestError == RequestError {
        self.init(service.configuration, mappingErrorsAs: service)
    }

    package init<S: HttpService>(_ configuration: ServiceConfiguration, mappingErrorsAs service: S)
    where S.RequestError == RequestError {
        (self.configuration, map) = (configuration, { service.mapped($0, by: configuration) })
    }

    package func mapError(_ error: HttpError) -> RequestError { map(error) }
}

extension BaseUrl {
    /// Checks that a service is still at this base.
    ///
    /// - Throws: ``FailureKind/FailureKind.EnvironmentChange``.
    fileprivate func check(_ present: BaseUrl) throws(FailureKind.EnvironmentChange) {
        guard self === present || isSamePlace(as: present) else {
            throw FailureKind.EnvironmentChange(from: origin, to: present.origin)
        }
    }
}
