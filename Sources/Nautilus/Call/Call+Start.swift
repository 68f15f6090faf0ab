extension Call {
    /// A whole call: the hook around it, the deadline over it.
    static func response(to request: R, with service: S) async throws(HttpError) -> HttpResponse<R.Result> {
        let hook = service.hook
        do throws(HttpError) {
            if let fulfilled = try await fulfil(request, by: hook) { return fulfilled }  // 0
            let response = try await runWithinDeadline(request, service)
            await hook.onSuccess(request, response: response)
            return response
        } catch {
            await hook.onFailure(request, error: error)
            throw error
        }
    }

    private static func fulfil(
        _ request: R,
        by hook: any ServiceHook
    ) async throws(HttpError) -> HttpResponse<R.Result>? {
        do {
            return try await hook.onSchedule(request)
        } catch {
            throw HttpError(wrapping: error, stage: .hook, delivery: .notSent)
        }
    }

    private static func runWithinDeadline(
        _ request: R,
        _ service: S
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        let (deadline, clock) = (request.deadline, service.clock)
        guard let deadline else { return try await run(request, service, clock, deadline: nil) }
        guard deadline > .zero else {
            throw HttpError(.invalidRequest(.notPositive(parameter: "deadline")), stage: .build, delivery: .notSent)
        }
        let (result, _) = await withTimeLimit(deadline, on: clock) {
            await Result { () async throws(HttpError) in
                try await run(request, service, clock, deadline: deadline)
            }
        }
        return try result.get()
    }

    /// Makes the call, with its own retrier, inside the task that runs it.
    private static func run(
        _ request: R,
        _ service: S,
        _ clock: any Clock<Duration>,
        deadline: Duration?
    ) async throws(HttpError) -> HttpResponse<R.Result> {
        guard !Task.isCancelled else { throw HttpError(.cancelled, stage: .build, delivery: .notSent) }
        var call = Call(
            request: request,
            service: service,
            clock: clock,
            deadline: deadline,
            retrier: service.retrierFactory.create(for: request),
            recorder: TraceRecorder(R.self, clock: clock, observer: service.observer)
        )
        return try await call.run()
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
