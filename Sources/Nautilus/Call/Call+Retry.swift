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

    /// Sleeps on the service's clock; no longer than the session of the request that has failed, whose end the next attempt
    /// reports.
    ///
    /// - Throws: The cancellation, with the failure underneath; the failure when the deadline has passed.
    func sleep(for delay: Duration, after failure: HttpError) async throws(HttpError) {
        let calls = isSessions ? sequence : CallSequence()
        do {
            try await LateWakeup.sleep(
                for: delay,
                book.stopwatch,
                deadline: deadline,
                nap: { [clock] in try await calls.sleep(for: $0, on: clock) },
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

/// The permits for the retries of one call.
struct RetryPayment {
    /// The permit for the attempt that comes next, or is under way and has sent nothing; nil when it is free, or paid.
    var due: RetryPermit?
    /// The failure that it follows.
    var failure: HttpError?
    /// The permit of the last retry or second send that was sent, of each budget that has paid for one.
    private(set) var used: [RetryPermit] = []

    init() {}

    /// Pays for the connection that takes the place of another.
    init(after end: StreamEnd) {
        (due, failure) = (end.permit, end.loss)
    }

    /// Pays for the send that begins now.
    ///
    /// - Throws: The failure before, when the permit was shared by calls that were given one answer, another of them
    ///   has used it, and the budget does not pay again.
    mutating func pay() throws(HttpError) {
        guard let permit = due else { return }
        due = nil
        guard permit.use() else {
            guard var failure else { return }
            // The retrier is asked once more, and pays for itself from here on.
            failure.sharedAnswer = nil
            throw failure
        }
        note(permit)
    }

    /// Takes note of a permit that was used; that of a second send is at once.
    mutating func note(_ permit: RetryPermit) {
        used.removeAll { $0.budget === permit.budget }
        used.append(permit)
    }
}

/// The end of a sleep that came far too late: the process was suspended, with a phone in a pocket or by a signal.
///
/// All calls that were due meanwhile wake at the same moment, however their delays were spread.
struct LateWakeup {
    /// From here on a sleep counts as too late. Timers are late by milliseconds, those that save power or of a busy
    /// machine by a second.
    static let threshold = Duration.seconds(2)
    /// The longest span: a user who takes the phone out of the pocket waits for it.
    static let longestSpan = Duration.seconds(10)
    /// The shortest: delays that were short are no reason to come all at once.
    static let shortestSpan = Duration.seconds(1)

    /// - Returns: Nil for a sleep that ended in time.
    init?(by lateness: Duration) {
        guard lateness > Self.threshold else { return nil }
    }

    /// The span that the retries are spread over: the delay that they had, which spread them before.
    ///
    /// - Parameter remaining: The time until the call's deadline; half of it is left for the attempt.
    /// - Returns: Zero when nothing is left.
    func span(after delay: Duration, remaining: Duration?) -> Duration {
        let span = min(max(delay, Self.shortestSpan), Self.longestSpan)
        return remaining.map { max(.zero, min(span, $0 / 2)) } ?? span
    }
}

extension LateWakeup {
    /// Sleeps before a retry; longer when the process was suspended meanwhile, and all that slept in it wake at once.
    ///
    /// - Parameters:
    ///   - delay: For how long.
    ///   - stopwatch: Runs on the clock that is slept on, since the call began.
    ///   - deadline: How long the call may take, by the stopwatch; nil for no limit.
    ///   - nap: Sleeps; one that ends early ends all of it.
    ///   - spread: Draws a random part of a span.
    /// - Throws: `CancellationError`, also when the deadline has passed.
    static func sleep(
        for delay: Duration,
        _ stopwatch: Stopwatch,
        deadline: Duration?,
        nap: (Duration) async throws -> Void,
        spread: (Duration) -> Duration
    ) async throws {
        var left = delay.clampedToCentury
        while left > .zero {
            let due = stopwatch.elapsed + left
            try await nap(left)
            let now = stopwatch.elapsed
            guard let span = LateWakeup(by: now - due)?.span(after: delay, remaining: deadline.map { $0 - now }) else {
                break
            }
            // Its timer rings as late as this sleep's, and may come second.
            if span <= .zero { throw CancellationError() }
            left = min(span, max(.zero, spread(span)))
        }
        try Task.checkCancellation()
    }
}
