/// The policy that all retriers of one `BackoffRetrier.factory` share.
struct BackoffPolicy: Sendable {
    let backoff: Backoff
    let throttlingBackoff: Backoff
    let maxAttempts: Int
    let condition: RetryCondition
    let retryAfterCap: Duration
    let budget: RetryBudgetScope
    let latencies: OriginLatencies?
    let gate: (any RetryGate)?
    let offline: OfflinePause
    let random: any RandomSource
    let retriesNonIdempotentRequests: Bool

    /// The delays that suit `error`.
    func schedule(after error: HttpError) -> Backoff {
        switch RetryCharge(after: error) {
        case .postponed, .throttling: throttlingBackoff
        case .unavailable, .failure, nil: backoff
        }
    }

    /// Whether a delay is one that a retrier of this policy may choose after `error`, in any of its retries.
    func couldChoose(_ delay: Duration, after error: HttpError) -> Bool {
        let schedule = schedule(after: error)
        let range = schedule.range(ofRetries: maxAttempts - 1)
        guard let hint = error.retryAfter else { return range.contains(delay) }
        let isDrawn = gate == nil && !error.isRefusal && schedule.isJittered
        let latest = isDrawn ? hint + Self.longestSpread : hint
        return delay >= max(range.lowerBound, hint) && delay <= max(range.upperBound, latest)
    }

    /// The longest span over which calls that were told when to come back are spread.
    private static let longestSpread = Duration.seconds(10)

    /// The delay after an answer that says when to come back.
    ///
    /// Never less than that. Calls that were sent away together come back one after the other: where there is a gate it
    /// sees to that; elsewhere each is drawn somewhere in as much time again, and in twice as much whenever it is sent
    /// away again, so that the load of the waiting calls halves each time. A schedule without jitter adds nothing.
    ///
    /// - Parameter retry: The retry's number, from 1.
    func delay(after hint: Duration, beforeRetry retry: Int, _ error: HttpError) -> Duration {
        guard gate == nil, !error.isRefusal, schedule(after: error).isJittered else { return hint }
        var span = min(hint, Self.longestSpread)
        for _ in 1..<max(1, min(retry, 64)) { span = min(span * 2, Self.longestSpread) }
        // Half of the time left is for the attempt.
        if let remaining = CallDeadline.remaining { span = max(.zero, min(span, (remaining - hint) / 2)) }
        return hint + span.scaled(by: random.clampedFraction())
    }

    /// The budget's answer to a retry after `error`.
    ///
    /// - Parameter charge: Nil for a retry that is free.
    func payment(for charge: RetryCharge?, after error: HttpError) -> Payment {
        guard let charge, let budget = budget.budget(of: error.request?.origin) else { return .free }
        return budget.withdraw(charge).map(Payment.permit) ?? .refused
    }

    /// How a retry is paid for.
    enum Payment: Sendable {
        case free
        case permit(RetryPermit)
        case refused
    }

    /// Why a retry after `delay` has too little time until the call's deadline; nil when it has enough.
    ///
    /// The first attempt of a call is never asked: some attempt has to find out that the server has become faster.
    func lackOfTime(for delay: Duration, after error: HttpError) -> RetryReason? {
        guard let remaining = CallDeadline.remaining else { return nil }
        guard delay < remaining else { return .deadline(remaining: remaining) }
        guard let latencies, let usual = error.request.flatMap({ latencies.median(of: $0.origin) }),
            remaining - delay < usual
        else { return nil }
        return .cannotFinish(remaining: remaining - delay, usual: usual)
    }

    func mayRepeat(_ error: HttpError) -> Bool {
        error.isSafeToRepeat || retriesNonIdempotentRequests
    }

    func remainingPause(for error: HttpError) -> Duration? {
        error.request.flatMap { gate?.remainingPause(of: $0.origin) }
    }

    func closeGate(for pause: Duration, after error: HttpError) {
        guard pause > .zero, let origin = error.request?.origin else { return }
        // An open circuit is no order of the server, and knows itself when to let a request through.
        guard !error.isRefusal else { return }
        // A redirect has led elsewhere, and it is the other origin that asks for patience.
        if let url = error.response?.url, HttpOrigin(url) != origin { return }
        gate?.close(origin, for: pause)
    }
}

extension BackoffPolicy: RetrierFactory {
    /// The default of the longest `Retry-After` that is waited for.
    static let defaultRetryAfterCap = Duration.seconds(60)

    func create<R: Request>(for request: R) -> any Retrier {
        BackoffRetrier(policy: self)
    }

    var policies: [RetryPolicy] {
        [
            RetryPolicy(
                maxAttempts: maxAttempts,
                shortestDelays: shortestDelays,
                retryAfterCap: retryAfterCap,
                retriesNonIdempotentRequests: retriesNonIdempotentRequests,
                budget: budget,
                gate: gate,
                latencies: latencies
            )
        ]
    }

    /// The sum of all delays when every draw is the lowest.
    private var shortestDelays: Duration {
        var (sum, last) = (Duration.zero, Duration.zero)
        // More would be no policy but a loop, and its delays not be summed up in time.
        for retry in 1..<max(1, min(maxAttempts, 1000)) {
            last = backoff.delay(beforeRetry: retry, previous: last, random: LowestDraw()).addable
            sum = (sum + last).addable
        }
        return sum
    }

    private struct LowestDraw: RandomSource {
        func nextFraction() -> Double { 0 }
    }
}
