import Foundation

/// A call that is bound to its environment and to the session of the user who is signed in when it is made.
///
/// It has awaited nothing. So a call that runs later, such as in the task of a completion handler, goes where it was
/// bound to, as that user. A request that follows it, such as for the next page of a list, continues it:
/// ```swift
/// let first = WaitForNews(after: nil).bound(to: service)
/// var news = try await first.run().body
/// while first.sessions.end == nil {  // until the user has left
///     show(news)
///     news = try await first.continued(with: WaitForNews(after: news.last)).run().body
/// }
/// ```
public final class CallBinding<R: Request>: Sendable {
    package let configuration: ServiceConfiguration
    /// Where it goes; the failure is that of its first attempt.
    let target: Result<CallTarget, HttpRequest.Invalid>
    /// The hook of this call.
    let hook: any ServiceHook
    /// The credentials of its requests to the service's own origin; none for an anonymous call.
    let credentials: [any CallCredential]
    /// The interceptors around the call, and around each send.
    let tiers: (call: [any CallInterceptor], network: [any NetworkInterceptor])
    /// The sessions that it belongs to, wherever it goes; none for an anonymous call.
    public let sessions: CallSessions
    /// The account of the call as each call interceptor has named it; nil for none.
    private let accounts: [String?]
    nonisolated(unsafe) let retrier: any Retrier  // Unsafe: it is handed over to the one task that runs the call.
    /// Why the call fails before it has begun: it could not be bound to one environment, or to the sessions that it
    /// continues. Nil if it could.
    package let failure: (any Error)?
    // A generic property comes last: any property behind it has no fixed offset.
    package let request: R

    /// - Parameter earlier: The sessions of the call that it continues. Default: it continues none.
    init(
        _ request: R,
        to configuration: ServiceConfiguration,
        continuing earlier: CallSessions? = nil
    ) {
        #if DEBUG
            TypeWarnings.nearMisses.check(configuration, request)
        #endif
        let isAnonymous = configuration.makesAnonymous(request)
        let target = Result { () throws(HttpRequest.Invalid) in try CallTarget(of: request, for: configuration) }
        let environment = (try? target.get())?.service.place ?? ""
        hook = configuration.hook.bound(to: request, in: environment, isAnonymous: isAnonymous)
        let tiers = configuration.interceptors.tiers
        var accounts = tiers.call.map { $0.account(of: request) }
        retrier = configuration.factory(for: request).create(for: request)
        credentials = isAnonymous ? [] : retrier.credentials
        // The account is that of the session which the retrier has taken hold of.
        for (index, account) in accounts.enumerated() where account != nil {
            if account != tiers.call[index].account(of: request) { accounts[index] = nil }
        }
        (self.accounts, self.tiers) = (accounts, tiers)
        let own = CallSessions(of: credentials)
        sessions = earlier ?? own
        failure = Self.failure(target, configuration) ?? sessions.refusal(of: own)
        (self.request, self.configuration, self.target) = (request, configuration, target)
    }

    /// Why the call cannot begin. If the service has moved since it was read, everything that it was asked for, above
    /// all the retrier, may belong to the other environment.
    private static func failure(
        _ target: Result<CallTarget, HttpRequest.Invalid>,
        _ configuration: ServiceConfiguration
    ) -> (any Error)? {
        guard case .success = target else { return nil }
        do {
            try configuration.checkPlace()
            return nil
        } catch {
            return error is HttpRequest.Invalid ? nil : error
        }
    }

    /// The account that the call has for an interceptor; nil if it had none when the call was bound, or has another
    /// now.
    func account(of interceptor: Int) -> String? {
        guard let account = accounts[interceptor], account == tiers.call[interceptor].account(of: request) else {
            return nil
        }
        return account
    }

    /// Binds a call that continues this one: in the same environment, in the same sessions. If one of them is over, or
    /// another user has signed in since, the call fails with the ``RefreshError`` that says how.
    public func continued<Next: Request>(with next: Next) -> CallBinding<Next> {
        continued(with: next, by: configuration)
    }

    /// How the sessions that it continues have ended, once this process has followed what others have done.
    func endOfSession() async -> RefreshError? {
        for credential in credentials where sessions.list.end == nil {
            try? await sessions.wait { try await credential.ready() }
        }
        return sessions.list.end
    }

    /// Binds a call that continues this one by a configuration that was derived from its own.
    package func continued<Next: Request>(
        with next: Next,
        by configuration: ServiceConfiguration
    ) -> CallBinding<Next> {
        CallBinding<Next>(next, to: configuration, continuing: sessions)
    }
}

extension CallSessions {
    /// Why a call that continues another one, in these sessions, cannot begin in its own ones; nil if it can.
    fileprivate func refusal(of own: CallSessions) -> RefreshError? {
        if let end = list.end { return end }
        let isSame = own.isEmpty || own.list.elementsEqual(list, by: ===)
        return isSame ? nil : .superseded
    }
}

extension CallBinding: AnswerClassifier {
    func status(of response: HttpResponse<Data>) -> AnswerStatus {
        configuration.coders.asCurrent { request.status(of: response) }
    }
}

/// The request's word on which status counts for an answer. Not generic over the request: otherwise the runtime would
/// have to look its type up for every answer.
protocol AnswerClassifier: AnyObject, Sendable {
    func status(of response: HttpResponse<Data>) -> AnswerStatus
}

extension CallBinding: Redacted {
    /// The request's type, and where it goes; not the query of the base, which may hold a key.
    public var description: String {
        let origin = (try? target.get())?.service.origin
        return "CallBinding(\(R.self), \(origin?.description ?? "no valid URL"))"
    }
}

extension Request {
    /// Binds a call to the service as it is now, and to its user, without running it.
    public func bound(to service: some HttpService) -> CallBinding<Self> { bound(to: service.configuration) }

    /// Binds a call to a configuration that was read earlier.
    package func bound(to configuration: ServiceConfiguration) -> CallBinding<Self> {
        CallBinding(self, to: configuration)
    }
}

extension Request {
    /// Calls the service and returns the decoded result; includes all attempts, refreshes, delays and redirects.
    ///
    /// Building and decoding run off the caller's actor. Cancelling the task ends the call at once.
    ///
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure.
    public func schedule<S: HttpService>(with service: S) async throws(S.RequestError) -> Result {
        try await response(with: service).body
    }

    /// Calls the service and returns the decoded result with its status, header and the trace of the call.
    ///
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure.
    public func response<S: HttpService>(with service: S) async throws(S.RequestError) -> HttpResponse<Result> {
        try await bound(to: service).run(for: service)
    }
}

extension CallBinding {
    /// Runs the call, and throws the service's own error.
    package func run<S: HttpService>(for service: S) async throws(S.RequestError) -> HttpResponse<R.Result> {
        do throws(HttpError) {
            return try await run()
        } catch {
            throw service.mapped(error, by: configuration)
        }
    }

    /// The outcome of the call, with the service's own error.
    func result<S: HttpService>(for service: S) async -> Result<HttpResponse<R.Result>, S.RequestError> {
        await Result { () async throws(S.RequestError) in try await run(for: service) }
    }
}

/// The base URL of a call's requests, and that of its service.
///
/// A call has one target, from before its retrier is made until its end. Values made for one environment must not reach
/// another: a credential, an idempotency key, a cursor, the memory of a cache or a hook.
struct CallTarget: Sendable {
    /// The base that the request is appended to: the request's own, or the service's.
    let base: BaseUrl
    /// The service's base.
    let service: BaseUrl

    /// Creates the target of a call.
    ///
    /// - Throws: ``HttpRequest/Invalid``.
    init(of request: some Request, for service: ServiceConfiguration) throws(HttpRequest.Invalid) {
        let isSecure = service.usesSecureProtocol
        self.service = try BaseUrlMemo.shared.base(service.apiUrl, isSecure: isSecure)
        let (url, ownSecurity) = (request.url, request.usesSecureProtocol)
        guard url != nil || ownSecurity != nil else {
            self.base = self.service
            return
        }
        self.base = try BaseUrlMemo.shared.base(url ?? service.apiUrl, isSecure: ownSecurity ?? isSecure)
    }

    /// The later target, which has to have the same origin.
    ///
    /// - Throws: ``FailureKind/FailureKind.EnvironmentChange``.
    func following(_ later: CallTarget) throws(FailureKind.EnvironmentChange) -> CallTarget {
        guard base === later.base || base.origin == later.base.origin else {
            throw FailureKind.EnvironmentChange(from: base.origin, to: later.base.origin)
        }
        return later
    }
}
