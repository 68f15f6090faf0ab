import Foundation

/// The parts that a call begins with, in addition to its request and its service.
struct CallBeginning: Sendable {
    /// The sequence of calls that the call belongs to.
    let sequence: CallSequence
    /// The target; nil when it is invalid, which the first attempt reports.
    let target: CallTarget?
    /// The hook that accompanies the call as a whole; nil for none.
    let hook: (any ServiceHook)?
    /// The end of a stream's connection that this call replaces with a new connection; nil for any other call.
    let replacedConnection: StreamEnd?
    /// The call if it was made earlier; nil for one that is made now.
    var made: MadeCall?
}

/// A call that is made now and run later: it goes to the target, and belongs to the user, of the moment when it was
/// made.
struct MadeCall: Sendable {
    fileprivate let sequence: CallSequence
    fileprivate let target: CallTarget?
    // Unsafe: it is handed over to the one task that runs the call.
    nonisolated(unsafe) fileprivate let retrier: any Retrier
    /// The service's move to another environment while the call was being made; nil for none.
    fileprivate let move: EnvironmentChange?
}

extension Call {
    /// Makes a call without running it.
    static func make(_ request: R, with service: ServiceConfiguration) -> MadeCall {
        let sequence = CallSequence()
        let target = try? CallTarget(of: request, for: service)
        _ = facts(of: request, on: service, in: sequence, at: target, service.hook)
        let retrier = retrier(for: request, by: service.factory(for: request), on: service, in: sequence)
        return MadeCall(
            sequence: sequence,
            target: target,
            retrier: retrier,
            move: move(from: target, of: request, on: service)
        )
    }

    /// The service's move since it was asked for its URL; nil when it has not moved. If it has, everything that it was
    /// asked for in between, above all the retrier, may belong to the other environment.
    private static func move(
        from target: CallTarget?,
        of request: R,
        on service: ServiceConfiguration
    ) -> EnvironmentChange? {
        guard target != nil else { return nil }
        do {
            try service.checkPlace()
            return nil
        } catch {
            return error as? EnvironmentChange
        }
    }

    private static func facts(
        of request: R,
        on service: ServiceConfiguration,
        in sequence: CallSequence,
        at target: CallTarget?,
        _ hook: (any ServiceHook)?
    ) -> CallFacts {
        sequence.facts(at: target?.service, isForGuest: service.isAnonymous(request)) { facts in
            for interceptor in service.interceptors { interceptor.noteFacts(of: request, in: &facts) }
            hook?.noteFacts(of: request, in: &facts)
            service.transport.noteFacts(of: request, in: &facts)
        }
    }

    private static func retrier(
        for request: R,
        by factory: any RetrierFactory,
        on service: ServiceConfiguration,
        in sequence: CallSequence
    ) -> any Retrier {
        sequence.making {
            service.isAnonymous(request)
                ? GuestCall.make { factory.create(for: request) } : factory.create(for: request)
        }
    }

    /// Makes a whole call: its deadline bounds everything, and its end is reported to the hook.
    ///
    /// - Parameters:
    ///   - end: The end of a stream's connection that this call replaces with a new connection; nil for any other call.
    ///   - sequence: The sequence of calls that it belongs to. Default: a new one, which it begins.
    ///   - made: The call if it was made earlier; nil, the default, for one that is made now.
    static func response(
        to request: R,
        with service: ServiceConfiguration,
        after end: StreamEnd? = nil,
        in sequence: CallSequence = CallSequence(),
        made: MadeCall? = nil
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        #if DEBUG
            NearMissWarnings.shared.check(service, request)
        #endif
        // Determined before anything else is asked of the service, since the service may move.
        let target = if let made { made.target } else { try? CallTarget(of: request, for: service) }
        let hook = service.hook
        let isSilent = type(of: hook) == NilServiceHook.self
        let beginning = CallBeginning(
            sequence: made?.sequence ?? sequence,
            target: target,
            hook: isSilent ? nil : hook,
            replacedConnection: end,
            made: made
        )
        if isSilent { return try await withinDeadline(request, service, beginning).typed(for: request) }
        do throws(HttpError) {
            return try await withinDeadline(request, service, beginning).typed(for: request)
        } catch {
            await hook.onFailure(request, error: error)
            throw error
        }
    }

    /// Makes the same call again, so that an interceptor can learn from it; the hook is told only of the first call.
    static func callAgain(_ request: R, with service: ServiceConfiguration, in sequence: CallSequence) async {
        await CallScope.runOutside {
            let target = try? CallTarget(of: request, for: service)
            let beginning = CallBeginning(sequence: sequence, target: target, hook: nil, replacedConnection: nil)
            _ = try? await withinDeadline(request, service, beginning)
        }
    }

    /// Runs the call, with a retrier of its own, within its deadline.
    private static func withinDeadline(
        _ request: R,
        _ service: ServiceConfiguration,
        _ beginning: CallBeginning
    ) async throws(HttpError) -> CallOutcome {
        let clock = service.clock
        let deadline = earliest(service.deadline(of: request), CallDeadline.remaining)
        // Time is measured from before the deadline's timer starts: when the timer fires, the deadline has surely
        // passed.
        let stopwatch = Stopwatch(clock)
        guard let deadline, deadline > .zero else {
            return try await withinScope(request, service, beginning, clock, deadline, stopwatch).get()
        }
        let (result, _) = await TimeLimit(deadline, on: clock).cancelling {
            await withinScope(request, service, beginning, clock, deadline, stopwatch)
        }
        return try result.get()
    }

    private static func withinScope(
        _ request: R,
        _ service: ServiceConfiguration,
        _ beginning: CallBeginning,
        _ clock: any Clock<Duration>,
        _ deadline: Duration?,
        _ stopwatch: Stopwatch
    ) async -> Result<CallOutcome, HttpError> {
        // The facts note the call's owner at the same moment at which its retrier takes hold of a session.
        let sequence = beginning.sequence
        let facts = facts(of: request, on: service, in: sequence, at: beginning.target, beginning.hook)
        let factory = service.factory(for: request)
        let retrier =
            beginning.made?.retrier
            ?? retrier(for: request, by: factory, on: service, in: sequence)
        let move =
            if let made = beginning.made { made.move } else { move(from: beginning.target, of: request, on: service) }
        let outer = CallScope.current
        let isRetried = type(of: retrier) != NilRetrier.self
        let constants = CallConstants(
            request,
            service.coders,
            isRetried ? factory : nil,
            retryAfterField: service.retryAfterField
        )
        let scope = CallScope(
            requestType: R.self,
            deadline: deadline,
            stopwatch: stopwatch,
            attempts: constants,
            facts: facts
        )
        let call = Call(service, constants, clock, scope, consume retrier, beginning)
        if let end = beginning.replacedConnection { call.payment = RetryPayment(after: end) }
        if let note = outer?.nestedRetries(of: scope) { call.recorder.note(note) }
        return await scope.enter {
            await Result { () async throws(HttpError) in try await call.start(beginning, after: move) }
        }
    }

    private static func earliest(_ own: Duration?, _ outer: Duration?) -> Duration? {
        guard let own, let outer else { return own ?? outer }
        return min(own, outer)
    }

    private func start(
        _ beginning: CallBeginning,
        after move: EnvironmentChange?
    ) async throws(HttpError) -> CallOutcome {
        guard !Task.isCancelled else {
            throw recorder.failed(failure(CancellationError(), in: .hook, delivery: .notSent))
        }
        if let own = configuration.deadline(of: request), own <= .zero {
            let refusal = InvalidRequest.notPositive(parameter: "deadline")
            throw recorder.failed(failure(refusal, in: .build, delivery: .notSent))
        }
        // The call around this one has no time left: this one ends as if its timer had just fired.
        if deadline == .zero { throw recorder.failed(failure(.deadline(.zero), in: .hook, delivery: .notSent)) }
        if let target {
            do {
                if let move { throw move }
                try sequence.begin(at: target.service)
            } catch {
                throw recorder.failed(failure(error, in: .build, delivery: .notSent))
            }
        }
        guard let hook = beginning.hook else { return try await run() }
        if let fulfilled = try await fulfil(by: hook) {  // 0
            var response = fulfilled.replacingBody(Data())
            response.trace = recorder.fulfilled()
            return CallOutcome(response: response, result: fulfilled.body)
        }
        let outcome = try await run()
        await hook.onSuccess(request, response: try outcome.typed(for: request))
        return outcome
    }

    private func fulfil(by hook: any ServiceHook) async throws(HttpError) -> HttpResponse<R.Result>? {
        do {
            return try await hook.onSchedule(request)
        } catch {
            throw recorder.failed(failure(error, in: .hook, delivery: .notSent))
        }
    }
}

/// The success of a call, on its way to the caller. Like `DecodedAnswer`, its type is not generic over the request.
struct CallOutcome: Sendable {
    /// The answer, with the trace of the call.
    let response: HttpResponse<Data>
    /// The request's result.
    let result: any Sendable

    /// The response with the result for its body.
    ///
    /// - Throws: Never in practice: the result was made by `request`.
    func typed<R: Request>(for request: R) throws(HttpError) -> HttpResponse<R.Result> {
        guard let result = result as? R.Result else { throw HttpError(.decoding, stage: .decode) }
        return response.replacingBody(result)
    }
}

extension CallScope {
    /// The note on a call that is made within an attempt of this one, if both retry; nil when, as far as is known, only
    /// one of them does.
    fileprivate func nestedRetries(of inner: CallScope) -> CallTrace.Note? {
        guard isInAttempt else { return nil }
        let facts = constants
        guard let outer = facts.attempts?.maxAttempts, let inner = inner.constants.attempts?.maxAttempts,
            outer > 1, inner > 1
        else { return nil }
        return .nestedRetries(within: String(describing: facts.requestType), outerAttempts: outer, attempts: inner)
    }
}

extension Result where Success: Sendable {
    /// The outcome of asynchronous work with a typed error.
    init(catching work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
