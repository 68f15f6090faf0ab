extension Call {
    /// Decides on the next attempt after a failure: asks the retrier, and checks what no retrier can overrule. Pays nothing.
    ///
    /// - Throws: The error that surfaces when there is no next attempt.
    func decideOnRetry(after error: HttpError) async throws(HttpError) -> DecidedRetry {
        // The call is cancelled, or no time is left: the retrier is not asked.
        if error.kind == .cancelled || error.kind == deadline.map(FailureKind.deadline) {
            throw recorder.surfacing(error)
        }
        if Task.isCancelled { throw interrupted(error) }

        // A stream asks its own retrier, and puts a delay before each connection.
        if isReconnect, !error.mayChangeWithRequest { throw recorder.surfacing(error) }

        let decision = try await decision(after: error)
        let (name, reason) = (retrier.name, retrier.reason)
        // A cancellation, or the end of the session, has woken the retrier: its decision means nothing.
        if Task.isCancelled { throw interrupted(error) }
        try checkSessions(answering: error)

        switch decision {
        case .doNotRetry:
            throw recorder.surfacing(error, .init(retrier: name, action: .stop, reason: reason))
        case .fail(let other):
            let given = CallTrace.Decision(retrier: name, action: .fail, reason: reason ?? other.asReason)
            throw recorder.surfacing(error, given, surfacing: other)
        case .retry(let delay, let cost, let evenIfExecuted):
            let delay = max(.zero, delay)
            // Only a changed request, such as one with a fresh credential, is sent again without a delay.
            if isReconnect, delay > .zero { throw recorder.surfacing(error) }
            if let reason = reasonToStop(before: delay, after: error, evenIfExecuted: evenIfExecuted) {
                throw recorder.surfacing(error, .init(retrier: "Call", action: .stop, reason: reason))
            }
            return DecidedRetry(
                delay: delay,
                cost: cost,
                decision: CallTrace.Decision(retrier: name, action: .retry(after: delay), reason: reason)
            )
        }
    }

    private func decision(after error: HttpError) async throws(HttpError) -> RetryDecision {
        guard !sessions.isEmpty else { return await retrier.retry(request, failingWith: error) }
        // Unsafe: the call waits for the one task that has it meanwhile.
        nonisolated(unsafe) let call = self
        do {
            return try await sessions.wait { await call.retrier.retry(call.request, failingWith: error) }
        } catch let ending {
            if !Task.isCancelled { try checkSessions(answering: error) }
            throw interrupted(ending as? HttpError ?? error)
        }
    }

    /// Checks that the call's sessions go on when an attempt has failed: what the server has answered stays in the error,
    /// and in the trace.
    ///
    /// - Throws: The end of one.
    private func checkSessions(answering failure: HttpError) throws(HttpError) {
        guard let end = sessions.end else { return }
        var ending = failure.asAuthorizationFailure(end)
        ending.retryAfter = nil
        throw recorder.surfacing(failure, surfacing: ending)
    }

    /// Waits until the retrier lets the next attempt begin.
    ///
    /// - Throws: What the retrier throws; the end of the session; the cancellation.
    func passGate(after failure: HttpError) async throws(HttpError) {
        guard let last = lastRequest else { return }
        // Unsafe: the call waits for the one task that has it meanwhile.
        nonisolated(unsafe) let call = self
        do {
            try await sessions.wait { try await call.retrier.beforeRetry(of: last) }
            try Task.checkCancellation()
        } catch {
            if Task.isCancelled { throw interrupted(failure) }
            try checkSessions(answering: failure)
            throw recorder.surfacing(self.failure(error, in: .retry, delivery: .notSent))
        }
    }

    /// The request of the attempt that has failed; of one that could not be built, only its place. Nil when it has none.
    private var lastRequest: HttpRequest? {
        if let lastBuilt { return lastBuilt }
        guard case .success(let target) = bound.target,
            let url = try? target.base.appending(request.route, query: request.query)
        else { return nil }
        return HttpRequest(method: request.method, url: url)
    }

    /// Sleeps on the service's clock, no longer than the call's sessions last.
    ///
    /// - Throws: The cancellation, with the failure underneath; the failure itself when the deadline has passed; the end of
    ///   a session.
    func sleep(for delay: Duration, after failure: HttpError) async throws(HttpError) {
        do {
            if delay > .zero {
                try await sessions.wait { [clock] in try await clock.sleep(for: delay.clampedToCentury) }
            }
            try Task.checkCancellation()
            // In a process that was suspended, the deadline's timer rings as late as this sleep ended, and may be second.
            if let remaining, remaining <= .zero { throw CancellationError() }
        } catch {
            if !Task.isCancelled { try checkSessions(answering: failure) }
            throw interrupted(failure)
        }
        // A request for a credential that nobody wants any more; other calls end with their session.
        if !CredentialWork.isWanted { throw recorder.surfacing(failure) }
    }

    /// Why the call overrules a retrier that wants another attempt; nil when it does not.
    private func reasonToStop(
        before delay: Duration,
        after error: HttpError,
        evenIfExecuted: Bool
    ) -> RetryReason? {
        // The request might be executed twice.
        if !evenIfExecuted, !error.isSafeToRepeat { return .mayHaveExecuted }
        // The request body cannot be sent again.
        if !(passedBody?.isReplayable ?? builder.isReplayable) { return .bodySpent }
        // A request for a credential that nobody wants any more; other calls end with their session.
        if !CredentialWork.isWanted { return .custom("the user has signed out") }
        // No retrier may keep a call going forever.
        if recorder.number >= bound.configuration.maxAttempts { return .ceiling(bound.configuration.maxAttempts) }
        // The attempt would begin after the deadline, so the caller gets the failure now.
        if let remaining, delay >= remaining { return .deadline(remaining: max(.zero, remaining)) }
        return nil
    }

    /// Pays for the next attempt.
    ///
    /// - Throws: The failure, when the budget refuses.
    func pay(for retry: DecidedRetry, after failure: HttpError) throws(HttpError) {
        guard let cost = retry.cost else { return }
        guard cost.pay() else {
            throw recorder.surfacing(failure, .init(retrier: retry.decision.retrier, action: .stop, reason: .budget))
        }
        note(cost)
    }

    /// Notes what has been paid to a budget last, which a success may refund.
    func note(_ cost: RetryCost) {
        paid.removeAll { $0.budget === cost.budget }
        paid.append(cost)
    }

    /// The error of a call that was cancelled between two attempts: if by its deadline, the last failure; if by the
    /// caller, the cancellation with the failure underneath.
    private func interrupted(_ last: HttpError) -> HttpError {
        if let deadline, recorder.elapsed >= deadline { return recorder.surfacing(last) }
        var error = self.failure(.cancelled, in: .retry, underlying: last)
        error.delivery = last.delivery
        return recorder.surfacing(error)
    }
}

/// Another attempt that has been decided on, and not paid for yet.
struct DecidedRetry {
    let delay: Duration
    /// What it costs; nil when it is free.
    let cost: RetryCost?
    /// The decision, for the trace.
    let decision: CallTrace.Decision
}

extension HttpError {
    /// Whether the server has answered that this very request is at fault, so that a retrier may mend it, as by a fresh
    /// credential.
    fileprivate var mayChangeWithRequest: Bool {
        guard case .status(let status) = kind else { return false }
        return (400...499).contains(status) && ![408, 425, 429].contains(status)
    }

    /// This error as the reason of a retrier that gives up with it.
    package var asReason: RetryReason { .custom(cause ?? kind.description) }
}
