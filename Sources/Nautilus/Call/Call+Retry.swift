extension Call {
    /// Decides on the next attempt after a failure, and returns the delay before it.
    ///
    /// - Throws: The error that surfaces when there is no next attempt.
    func delay(after error: HttpError) async throws(HttpError) -> Duration {
        // The call is cancelled, or no time is left: the retrier is not asked.
        if error.kind == .cancelled || error.kind == deadline.map(FailureKind.deadline) { throw recorder.failed(error) }
        if Task.isCancelled { throw interrupted(error) }

        let decision = await retrier.retry(request, failingWith: error)
        let (name, reason) = (retrier.name, retrier.reason)
        // The retrier was woken, not answered.
        if Task.isCancelled { throw interrupted(error) }

        switch decision {
        case .doNotRetry:
            throw recorder.failed(error, .init(retrier: name, action: .stop, reason: reason))
        case .fail(let other):
            throw recorder.failed(error, .init(retrier: name, action: .fail, reason: reason), surfacing: other)
        case .retry(let delay, let permit):
            let delay = max(.zero, delay)
            if let objection = objection(to: delay) {
                throw recorder.failed(error, .init(retrier: "Call", action: .stop, reason: objection))
            }
            (payment.due, payment.failure) = (permit, permit == nil ? nil : error)
            recorder.willRetry(after: error, .init(retrier: name, action: .retry(after: delay), reason: reason))
            return delay
        }
    }

    /// Sleeps on the service's clock.
    ///
    /// - Throws: The cancellation, with the failure underneath; the failure when the deadline has passed.
    func sleep(for delay: Duration, after failure: HttpError) async throws(HttpError) {
        do {
            try await LateWaking.sleep(
                for: delay,
                on: clock,
                book.stopwatch,
                deadline: deadline,
                spread: { self.spread(over: $0, after: failure) }
            )
        } catch {
            throw interrupted(failure)
        }
    }

    /// The part of `span` that the retry is put off by; for calls that were given one answer it is the same, since they
    /// make one retry of it.
    private func spread(over span: Duration, after failure: HttpError) -> Duration {
        guard let shared = failure.sharedAnswer, span > .zero else { return retrier.spread(over: span) }
        let part = shared.agree { SharedSpread(fraction: retrier.spread(over: span) / span) }
        return span.scaled(by: min(max(0, part.fraction), 1))
    }

    /// Why the call does not follow a retrier that wants another attempt; nil when it does.
    private func objection(to delay: Duration) -> RetryReason? {
        // We can't send the request body again.
        if !builder.isReplayable { return .bodySpent }
        // No retrier may keep a call going for ever.
        if recorder.number >= service.maxAttempts { return .ceiling(service.maxAttempts) }
        // The attempt would begin after the deadline: the caller gets the failure now.
        if let remaining, delay >= remaining { return .deadline(remaining: max(.zero, remaining)) }
        return nil
    }

    /// The end of a call that was cancelled between two attempts: by its deadline, the last failure; by the caller,
    /// the cancellation with the failure underneath.
    private func interrupted(_ last: HttpError) -> HttpError {
        if let deadline, recorder.elapsed >= deadline { return recorder.failed(last) }
        var last = last
        // It holds what pays for a retry that will not be made.
        last.sharedAnswer = nil
        var error = self.failure(.cancelled, in: .retry, underlying: last)
        error.delivery = last.delivery
        return recorder.failed(error)
    }
}

/// The part of a span that the calls have drawn which were given one answer.
private struct SharedSpread: Sendable {
    let fraction: Double
}
