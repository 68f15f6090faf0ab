import Foundation

extension CallBinding {
    /// Runs the call, once; its deadline bounds everything, and its end is reported to the hook.
    ///
    /// - Throws: The last real failure; of kind ``FailureKind/environmentChanged(_:)`` when the service had moved while
    ///   the call was bound.
    public func run() async throws(HttpError) -> HttpResponse<R.Result> { try await run(isReconnect: false) }

    /// - Parameter isReconnect: Whether the call opens the next connection of a stream.
    package func run(isReconnect: Bool) async throws(HttpError) -> HttpResponse<R.Result> {
        if type(of: hook) == NilServiceHook.self {
            return try await withinDeadline(isReconnect, telling: nil).typed(for: request)
        }
        do throws(HttpError) {
            return try await withinDeadline(isReconnect, telling: hook).typed(for: request)
        } catch {
            await hook.onFailure(request, error: error)
            throw error
        }
    }

    /// Runs a call that repeats another one, so that an interceptor can learn from it; the hook is told only of the
    /// first call.
    func runAgain() async {
        await CallScope.runOutside { _ = try? await withinDeadline(false, telling: nil) }
    }

    private func withinDeadline(
        _ isReconnect: Bool,
        telling hook: (any ServiceHook)?
    ) async throws(HttpError) -> CallOutcome {
        let deadline = earliest(configuration.deadline(of: request), CallDeadline.remaining)
        // Time is measured from before the deadline's timer starts: when the timer fires, the deadline has surely
        // passed.
        let stopwatch = Stopwatch(configuration.clock)
        guard let deadline, deadline > .zero else {
            return try await withinScope(isReconnect, telling: hook, deadline, stopwatch).get()
        }
        let (result, _) = await TimeLimit(deadline, on: configuration.clock).cancelling {
            await self.withinScope(isReconnect, telling: hook, deadline, stopwatch)
        }
        return try result.get()
    }

    private func withinScope(
        _ isReconnect: Bool,
        telling hook: (any ServiceHook)?,
        _ deadline: Duration?,
        _ stopwatch: Stopwatch
    ) async -> Result<CallOutcome, HttpError> {
        let scope = CallScope(requestType: R.self, deadline: deadline, stopwatch: stopwatch)
        let call = Call(self, scope, isReconnect: isReconnect)
        return await scope.enter {
            await Result { () async throws(HttpError) in try await call.start(telling: hook) }
        }
    }

    private func earliest(_ own: Duration?, _ outer: Duration?) -> Duration? {
        guard let own, let outer else { return own ?? outer }
        return min(own, outer)
    }
}

extension Call {
    fileprivate func start(telling hook: (any ServiceHook)?) async throws(HttpError) -> CallOutcome {
        guard !Task.isCancelled else {
            throw recorder.failed(failure(CancellationError(), in: .hook, delivery: .notSent))
        }
        if let own = bound.configuration.deadline(of: request), own <= .zero {
            let refusal = HttpRequest.Invalid.notPositive(parameter: "deadline")
            throw recorder.failed(failure(refusal, in: .build, delivery: .notSent))
        }
        // The call around this one has no time left: this one ends as if its timer had just fired.
        if deadline == .zero { throw recorder.failed(failure(.deadline(.zero), in: .hook, delivery: .notSent)) }
        if let error = bound.failure {
            let ending = error is RefreshError ? await bound.endOfSession() : nil
            throw recorder.failed(failure(ending ?? error, in: .build, delivery: .notSent))
        }
        guard let hook else { return try await run() }
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

extension Result where Success: Sendable {
    /// The outcome of asynchronous work with a typed error.
    package init(catching work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
