extension Call {
    /// A whole call: its deadline over everything, its end told to the hook.
    static func response(to request: R, with service: S) async throws(HttpError) -> HttpResponse<R.Result> {
        let hook = service.hook
        if type(of: hook) == NilServiceHook.self { return try await withinDeadline(request, service, hook: nil) }
        do throws(HttpError) {
            return try await withinDeadline(request, service, hook: hook)
        } catch {
            await hook.onFailure(request, error: error)
            throw error
        }
    }

    /// Makes the same call once more, for what an interceptor learns from it; its hook has been told of the first.
    var callAgain: @Sendable () async -> Void {
        { [request, service] in
            _ = try? await Self.withinDeadline(request, service, hook: nil)
        }
    }

    /// Makes the call, with its own retrier, inside the task that runs it.
    private static func withinDeadline(
        _ request: R,
        _ service: S,
        hook: (any ServiceHook)?
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        let clock = service.clock
        let deadline = earliest(request.deadline, CallDeadline.current?.remaining)
        // Time is measured from here, before the deadline's timer starts: when it fires, the deadline has passed.
        let stopwatch = Stopwatch(clock)
        guard let deadline, deadline > .zero else {
            let call = Call(request, service, clock, deadline, stopwatch)
            return try await call.start(hook)
        }
        let (result, _) = await TimeLimit(deadline, on: clock).cancelling {
            await CallDeadline.$current.withValue(CallDeadline(deadline, on: stopwatch)) {
                await Result { () async throws(HttpError) in
                    let call = Call(request, service, clock, deadline, stopwatch)
                    return try await call.start(hook)
                }
            }
        }
        return try result.get()
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
        if deadline == .zero { throw recorder.failed(failure(CancellationError(), in: .hook, delivery: .notSent)) }
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
