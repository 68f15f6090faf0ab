/// A call that is bound: what it goes by until its end has been read, and its retrier has hold of a session.
///
/// It has awaited nothing. So a call that runs later, such as in the task of a completion handler, goes where it was
/// bound to, as the user who was signed in then. What follows it, such as the next page of a list, continues it:
///
/// ```swift
/// let first = WaitForNews(after: nil).bound(to: service)
/// var news = try await first.run().body
/// while true {
///     if let end = first.sessions.end { throw end }  // the user has left while the answer came
///     show(news)
///     news = try await first.continued(with: WaitForNews(after: news.last)).run().body
/// }
/// ```
public struct CallBinding<R: Request>: Sendable {
    let request: R
    let configuration: ServiceConfiguration
    /// Where it goes; the failure is that of its first attempt.
    let target: Result<CallTarget, InvalidRequest>
    let facts: CallFacts
    /// The credentials of its requests to the service's own origin; none for an anonymous call.
    let credentials: [any CallCredential]
    /// The interceptors around the call, and around each send.
    let tiers: (call: [any CallInterceptor], network: [any NetworkInterceptor])
    /// The sessions that it belongs to, wherever it goes; none for an anonymous call.
    public let sessions: CallSessions
    nonisolated(unsafe) let retrier: any Retrier  // Unsafe: it is handed over to the one task that runs the call.
    /// Why the call fails before it has begun: it could not be bound to one environment, or to the sessions that it
    /// continues. Nil if it could.
    let failure: (any Error)?

    /// - Parameter earlier: What the call that it continues goes by. Default: it continues none.
    init(
        _ request: R,
        to configuration: ServiceConfiguration,
        continuing earlier: (sessions: CallSessions, facts: CallFacts)? = nil
    ) {
        #if DEBUG
            NearMissWarnings.shared.check(configuration, request)
        #endif
        let isAnonymous = configuration.isAnonymous(request)
        let target = Result { () throws(InvalidRequest) in try CallTarget(of: request, for: configuration) }
        if let facts = earlier?.facts, facts.isSignedOut == isAnonymous {
            self.facts = facts
        } else {
            // The facts note the call's owner at the same moment at which its retrier takes hold of a session.
            let base = (try? target.get())?.service
            facts = CallFacts(of: request, to: configuration, at: base, isAnonymous: isAnonymous)
        }
        retrier = configuration.factory(for: request).create(for: request)
        credentials = isAnonymous ? [] : retrier.credentials
        tiers = configuration.interceptors.tiers
        let own = CallSessions(list: credentials.map(\.session).filter { $0 !== CallSession.unending })
        sessions = earlier?.sessions ?? own
        failure = Self.failure(target, configuration) ?? sessions.refusal(of: own)
        (self.request, self.configuration, self.target) = (request, configuration, target)
    }

    /// Why the call cannot begin. If the service has moved since it was read, everything that it was asked for, above all
    /// the retrier, may belong to the other environment.
    private static func failure(
        _ target: Result<CallTarget, InvalidRequest>,
        _ configuration: ServiceConfiguration
    ) -> (any Error)? {
        guard case .success = target else { return nil }
        do {
            try configuration.checkPlace()
            return nil
        } catch {
            return error is InvalidRequest ? nil : error
        }
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
    func continued<Next: Request>(with next: Next, by configuration: ServiceConfiguration) -> CallBinding<Next> {
        CallBinding<Next>(next, to: configuration, continuing: (sessions, facts))
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

extension CallFacts {
    /// The facts that the parts of a service note when a call is bound.
    fileprivate init(
        of request: some Request,
        to configuration: ServiceConfiguration,
        at base: BaseUrl?,
        isAnonymous: Bool
    ) {
        self.init(environment: base?.place ?? "")
        isSignedOut = isAnonymous
        for interceptor in configuration.interceptors { interceptor.noteFacts(of: request, in: &self) }
        configuration.hook.noteFacts(of: request, in: &self)
        configuration.transport.noteFacts(of: request, in: &self)
    }
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
    func bound(to configuration: ServiceConfiguration) -> CallBinding<Self> { CallBinding(self, to: configuration) }
}
