extension Call {
    /// A whole call: its deadline over everything, its end told to the hook.
    ///
    /// - Parameter end: The end of a stream's connection, in whose place the call opens another one; nil for any other call.
    static func response(
        to request: R,
        with service: S,
        after end: StreamEnd? = nil
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        let hook = service.hook
        if type(of: hook) == NilServiceHook.self {
            return try await withinDeadline(request, service, hook: nil, after: end)
        }
        do throws(HttpError) {
            return try await withinDeadline(request, service, hook: hook, after: end)
        } catch {
            await hook.onFailure(request, error: error)
            throw error
        }
    }

    /// Makes the same call once more, for what an interceptor learns from it; its hook has been told of the first.
    static func callAgain(_ request: R, with service: S) async {
        await CallScope.runOutside {
            _ = try? await withinDeadline(request, service, hook: nil)
        }
    }

    /// Makes the call, with its own retrier, inside the task that runs it.
    private static func withinDeadline(
        _ request: R,
        _ service: S,
        hook: (any ServiceHook)?,
        after end: StreamEnd? = nil
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        let clock = service.clock
        let deadline = earliest(request.deadline, CallDeadline.remaining)
        // Time is measured from here, before the deadline's timer starts: when it fires, the deadline has passed.
        let stopwatch = Stopwatch(clock)
        guard let deadline, deadline > .zero else {
            return try await withinScope(request, service, clock, deadline, stopwatch, hook, end).get()
        }
        let (result, _) = await TimeLimit(deadline, on: clock).cancelling {
            await withinScope(request, service, clock, deadline, stopwatch, hook, end)
        }
        return try result.get()
    }

    private static func withinScope(
        _ request: R,
        _ service: S,
        _ clock: any Clock<Duration>,
        _ deadline: Duration?,
        _ stopwatch: Stopwatch,
        _ hook: (any ServiceHook)?,
        _ end: StreamEnd?
    ) async -> Result<HttpResponse<R.Result>, HttpError> {
        let factory = service.retrierFactory
        let retrier = factory.create(for: request)
        let outer = CallScope.current
        var maxAttempts: (@Sendable () -> Int)?
        if type(of: retrier) != NilRetrier.self { maxAttempts = { factory.policies.maxAttempts } }
        let scope = CallScope(
            requestType: R.self,
            deadline: deadline,
            stopwatch: stopwatch,
            maxAttempts: maxAttempts
        )
        let call = Call(request, service, clock, scope, retrier)
        if let end { (call.payment.due, call.payment.failure) = (end.permit, end.loss) }
        if let note = outer?.nestedRetries(of: scope) { call.recorder.note(note) }
        return await scope.enter {
            await Result { () async throws(HttpError) in try await call.start(hook) }
        }
    }

    private static func earliest(_ own: Duration?, _ outer: Duration?) -> Duration? {
        guard let own, let outer else { return own ?? outer }
        return min(own, outer)
    }

    private func start(_ hook: (any ServiceHook)?) async throws(HttpError) -> HttpResponse<R.Result> {
        guard !Task.isCancelled else {
            throw recorder.failed(failure(CancellationError(), in: .hook, delivery: .notSent))
        }
        if let own = request.deadline, own <= .zero {
            let refusal = InvalidRequest.notPositive(parameter: "deadline")
            throw recorder.failed(failure(refusal, in: .build, delivery: .notSent))
        }
        // The call around this one has no time left: ended as if its timer had just fired.
        if deadline == .zero { throw recorder.failed(failure(.deadline(.zero), in: .hook, delivery: .notSent)) }
        guard let hook else { return try await run() }
        if var fulfilled = try await fulfil(by: hook) {  // 0
            fulfilled.trace = recorder.fulfilled()
            return fulfilled
        }
        let response = try await run()
        await hook.onSuccess(request, response: response)
        return response
    }

    private func fulfil(by hook: any ServiceHook) async throws(HttpError) -> HttpResponse<R.Result>? {
        do {
            return try await hook.onSchedule(request)
        } catch {
            throw recorder.failed(failure(error, in: .hook, delivery: .notSent))
        }
    }
}

extension CallScope {
    /// The note on a call that is made within an attempt of this one; nil when only one of them retries, as far
    /// as is known.
    fileprivate func nestedRetries(of inner: CallScope) -> CallTrace.Note? {
        guard isInAttempt, let outer = maxAttempts?(), let inner = inner.maxAttempts?(), outer > 1, inner > 1 else {
            return nil
        }
        return .nestedRetries(within: String(describing: requestType), outerAttempts: outer, attempts: inner)
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
