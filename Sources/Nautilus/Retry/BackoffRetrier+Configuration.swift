extension BackoffRetrier {
    /// The rules of a ``BackoffRetrier``, with the library's defaults until they are changed.
    ///
    /// ```swift
    /// let factory = BackoffRetrier.factory(.standard.with { $0.maxAttempts = 6 })
    /// ```
    public struct Configuration: Sendable {
        /// The rules that suit most services; every property says why it is as it is.
        public static var standard: Configuration { Configuration() }

        /// The delays. Default: exponential from 0.5 s, doubling, up to 20 s, full jitter; the reasons are at
        /// ``Backoff/exponential(base:factor:cap:jitter:)``.
        public var backoff: Backoff = .exponential()
        /// The delays after 429. Default: nil, the same: most APIs say in `Retry-After` how long to wait.
        public var throttlingBackoff: Backoff?
        /// The most attempts, the first included; retries of other retriers do not count. Less than 1 counts as 1.
        /// Default: 4, three retries: the fourth attempt still comes within a person's patience (3.5 s of delays at
        /// most, unless the server asks for more), and an outage costs four sends in place of one at worst.
        public var maxAttempts = 4
        /// Which failures are retried. Default: ``RetryCondition/standard``, those that pass with time for most APIs,
        /// each line with its reason.
        public var condition: RetryCondition = .standard
        /// The longest `Retry-After` that is waited for; beyond it the error surfaces at once, with the hint. Default:
        /// 60 s: a caller would rather hear of it than wait longer.
        public var retryAfterCap = Self.defaultRetryAfterCap
        /// Bounds the retries of all calls together; a retry that it refuses is not made, and the error surfaces.
        /// Default: ``RetryBudgetScope/perOrigin``, a token bucket for each origin: against a server that fails because
        /// of load, backoff alone makes it worse.
        public var budget: RetryBudgetScope = .perOrigin
        /// The usual time of an attempt to an origin, to spare a retry that cannot finish before the call's deadline.
        /// Default: nil, every retry that begins before the deadline is made.
        public var latencies: OriginLatencies?
        /// Holds back retries while a credential is refreshed, or while the origin has ordered a pause, whichever call
        /// was told of it. Default: nil, none, since one that is shared has to be kept by the service.
        public var gate: (any RetryGate)?
        /// How a call waits for a network when there is none; such attempts do not count. Default:
        /// ``OfflinePause/standard``, up to 60 s where the system knows of its network, which is on Apple's platforms.
        public var offline: OfflinePause = .standard
        /// The source of jitter. Default: the system's generator, which no two clients share.
        public var random: any RandomSource = SystemRandomSource()
        /// Whether to repeat a POST that the server may have executed, and execute it twice. Default: false, since a
        /// second order cannot be undone; send an `Idempotency-Key` instead. In a refresh nothing is repeated that may have been executed.
        public var retriesNonIdempotentRequests = false

        /// These rules with some of them changed.
        ///
        /// - Parameter change: Sets properties; it runs once, at once.
        /// - Throws: Any error that `change` throws.
        public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
            var changed = self
            try change(&changed)
            return changed
        }
    }
}

extension BackoffRetrier.Configuration {
    /// The delays that suit `error`.
    func schedule(after error: HttpError) -> Backoff {
        switch RetryCharge(after: error) {
        case .postponed, .throttling: throttlingBackoff ?? backoff
        case .unavailable, .failure, .hedge, nil: backoff
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

    func mayRepeat(_ error: HttpError, isPartOfRefresh: Bool) -> Bool {
        // It may have spent its credential, whatever its method promises: the session knows when to send it again.
        if isPartOfRefresh, error.delivery == .maybeExecuted { return false }
        return error.isSafeToRepeat || retriesNonIdempotentRequests
    }

    func remainingPause(for error: HttpError) -> Duration? {
        error.request.flatMap { gate?.remainingPause(of: $0.origin) }
    }

    func closeGate(for pause: Duration, after error: HttpError) {
        guard pause > .zero, let origin = error.request?.origin else { return }
        // An open circuit is no order of the server, and knows itself when to let a request through.
        guard !error.isRefusal else { return }
        // A redirect has led elsewhere, and it is the other origin that asks for patience.
        if let response = error.response, response.isFromElsewhere(than: origin) { return }
        gate?.close(origin, for: pause)
    }
}

extension BackoffRetrier.Configuration: RetrierFactory {
    /// The default of the longest `Retry-After` that is waited for.
    static let defaultRetryAfterCap = Duration.seconds(60)

    /// A retrier that follows these rules.
    public func create<R: Request>(for request: R) -> any Retrier {
        BackoffRetrier(self)
    }

    /// The one that these rules are.
    public var descriptions: [RetryDescription] {
        [
            RetryDescription(
                maxAttempts: maxAttempts,
                shortestDelays: shortestDelays,
                retryAfterCap: retryAfterCap,
                retriesNonIdempotentRequests: retriesNonIdempotentRequests,
                budget: budget,
                gate: gate,
                latencies: latencies,
                retriesUnauthorized: condition.verdict(for: HttpError(.status(401), stage: .validate)).isRetryable
            )
        ]
    }

    /// The same rules with the gate of ``RetryGate/signedOut``.
    public var signedOut: any RetrierFactory { with { $0.gate = gate?.signedOut } }

    /// The sum of all delays when every draw is the lowest.
    private var shortestDelays: Duration {
        var (sum, last) = (Duration.zero, Duration.zero)
        // More would be no policy but a loop, and its delays not be summed up in time.
        for retry in 1..<max(1, min(maxAttempts, 1000)) {
            last = backoff.delay(beforeRetry: retry, previous: last, random: LowestDraw()).clampedToCentury
            sum = (sum + last).clampedToCentury
        }
        return sum
    }

    private struct LowestDraw: RandomSource {
        func nextFraction() -> Double { 0 }
    }
}
