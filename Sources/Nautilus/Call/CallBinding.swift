/// A call that is bound: what it goes by until its end has been read, and its retrier has hold of a session.
///
/// It has awaited nothing. So a call that runs later, such as in the task of a completion handler, goes where it was
/// bound to, as the user who was signed in then.
package struct CallBinding<R: Request>: Sendable {
    let request: R
    let configuration: ServiceConfiguration
    /// The sequence of calls that it belongs to.
    let sequence: CallSequence
    /// Where it goes; the failure is that of its first attempt.
    let target: Result<CallTarget, InvalidRequest>
    let facts: CallFacts
    // Unsafe: it is handed over to the one task that runs the call.
    nonisolated(unsafe) let retrier: any Retrier
    /// Where the service, or the sequence, has gone while the call was being bound; nil if they have stayed.
    let move: EnvironmentChange?

    init(_ request: R, to configuration: ServiceConfiguration, in sequence: CallSequence) {
        #if DEBUG
            NearMissWarnings.shared.check(configuration, request)
        #endif
        let isAnonymous = configuration.isAnonymous(request)
        let target = Result { () throws(InvalidRequest) in try CallTarget(of: request, for: configuration) }
        // The facts note the call's owner at the same moment at which its retrier takes hold of a session.
        facts = sequence.facts(at: (try? target.get())?.service, isForGuest: isAnonymous) { facts in
            for interceptor in configuration.interceptors { interceptor.noteFacts(of: request, in: &facts) }
            configuration.hook.noteFacts(of: request, in: &facts)
            configuration.transport.noteFacts(of: request, in: &facts)
        }
        let factory = configuration.factory(for: request)
        retrier = sequence.making {
            isAnonymous ? GuestCall.make { factory.create(for: request) } : factory.create(for: request)
        }
        move = Self.move(from: target, configuration, sequence)
        (self.request, self.configuration, self.sequence, self.target) = (request, configuration, sequence, target)
    }

    /// The service's move since it was read; nil when it has not moved. If it has, everything that it was asked for, above
    /// all the retrier, may belong to the other environment.
    private static func move(
        from target: Result<CallTarget, InvalidRequest>,
        _ configuration: ServiceConfiguration,
        _ sequence: CallSequence
    ) -> EnvironmentChange? {
        guard case .success(let target) = target else { return nil }
        do {
            try configuration.checkPlace()
            try sequence.begin(at: target.service)
            return nil
        } catch {
            return error as? EnvironmentChange
        }
    }
}

extension Request {
    /// Binds a call to the service as it is now, without running it.
    ///
    /// - Parameter sequence: The calls that it continues. Default: none.
    package func bound(
        to service: some HttpService,
        in sequence: CallSequence = CallSequence()
    ) -> CallBinding<Self> {
        CallBinding(self, to: service.configuration, in: sequence)
    }

    /// Binds a call to a configuration that was read earlier.
    func bound(to configuration: ServiceConfiguration, in sequence: CallSequence) -> CallBinding<Self> {
        CallBinding(self, to: configuration, in: sequence)
    }
}
