extension BackoffRetrier {
    /// The rules of a ``BackoffRetrier``, with the library's defaults until they are changed.
    ///
    /// ```swift
    /// let factory = BackoffRetrier.factory(.standard.with { $0.maxAttempts = 6 })
    /// ```
    public struct Configuration: Sendable {
        /// The rules that suit most services; every property gives the reason for its default.
        public static var standard: Configuration { Configuration() }

        /// The delays. Default: exponential from 0.5 s, doubling, up to 20 s, full jitter; for the reasons see
        /// ``Backoff/exponential(base:factor:cap:jitter:)``.
        public var backoff: Backoff = .exponential()
        /// The delays after 429. Default: nil, the same as ``backoff``: most APIs say in `Retry-After` how long to
        /// wait.
        public var throttlingBackoff: Backoff?
        /// The most attempts, including the first; retries of other retriers do not count, nor does a feed that
        /// reconnects (`reconnectLimit:`). Less than 1 counts as 1.
        /// Default: 4, three retries: the fourth attempt still comes within a person's patience (after 3.5 s of delays
        /// at most, unless the server asks for more), and an outage costs at worst four sends instead of one.
        public var maxAttempts = 4
        /// Which failures are retried. Default: ``RetryCondition/standard``, the failures that pass with time for most
        /// APIs, each with its reason.
        public var condition: RetryCondition = .standard
        /// The longest `Retry-After` that is waited for; after a longer one, the error surfaces at once, with the hint.
        /// Default: 60 s: a caller would rather get the error than wait longer.
        public var retryAfterCap = Duration.seconds(60)
        /// Bounds the retries of all calls together; when it refuses a retry, the error surfaces. Default:
        /// ``RetryBudgetScope/perOrigin``, a token bucket for each origin: when a server fails because of load, retries
        /// with backoff alone make it worse.
        public var budget: RetryBudgetScope = .perOrigin
        /// How long attempts to an origin usually take; used to skip a retry that cannot finish before the call's
        /// deadline. Default: nil, every retry that begins before the deadline is made.
        public var latencies: (any LatencyRecord)?
        /// Holds back retries while a credential is refreshed, or while a pause ordered by the origin lasts, whichever
        /// call received the order. Default: nil, none, since the service has to keep the gate that its calls share.
        public var gate: (any RetryGate)?
        /// How a call waits when the device is offline; attempts that failed for that reason do not count. Default:
        /// ``OfflinePause/standard``, up to 60 s where the system reports its network, as on Apple's platforms.
        public var offline: OfflinePause = .standard
        /// The source of jitter. Default: the system's generator, which differs for each client.
        public var random: any RandomSource = .system
        /// Whether to repeat a POST that the server may have executed, at the risk of a second execution. Default:
        /// false, since a second order cannot be undone; send an `Idempotency-Key` instead. A request of a refresh is
        /// never repeated if it may have been executed.
        public var retriesNonIdempotentRequests = false

        /// A copy of these rules with some of them changed.
        ///
        /// - Parameter change: Sets properties; called once, immediately.
        /// - Throws: Any error that `change` throws.
        public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
            var changed = self
            try change(&changed)
            return changed
        }
    }
}

extension BackoffRetrier.Configuration {
    /// The schedule of delays to use after `error`.
    func schedule(after error: HttpError) -> Backoff {
        // Whoever waits for a feed wants it back soon after the server.
        if error.isReconnect { return backoff.capped(at: Self.longestReconnectDelay) }
        return switch RetryCost.Reason(after: error) {
        case .postponed, .throttling: throttlingBackoff ?? backoff
        case .unavailable, .failure, .hedge, nil: backoff
        }
    }

    /// The longest delay of the schedule before a feed's next connection, before jitter.
    private static let longestReconnectDelay = Duration.seconds(30)

    /// The longest span over which to spread calls that were told when to come back.
    private static let longestSpread = Duration.seconds(10)

    /// The delay after an answer that says when to come back; never shorter than that.
    ///
    /// Calls that were rejected together should come back one after the other. A gate takes care of that; without one,
    /// each call adds a random delay, up to as long as the hint, and up to twice as much each time it is rejected
    /// again, but 10 s at most, so that the load of the waiting calls halves each time. A schedule without jitter adds
    /// nothing.
    ///
    /// - Parameter retry: The retry's number, from 1.
    func delay(after hint: Duration, beforeRetry retry: Int, _ error: HttpError) -> Duration {
        guard gate == nil, !error.isRefusal, schedule(after: error).isJittered else { return hint }
        var span = min(hint, Self.longestSpread)
        for _ in 1..<max(1, min(retry, 64)) { span = min(span * 2, Self.longestSpread) }
        // Half of the remaining time is left for the attempt.
        if let remaining = CallDeadline.remaining { span = max(.zero, min(span, (remaining - hint) / 2)) }
        return hint + span.scaled(by: random.clampedFraction())
    }

    /// The cost of a retry after `error`; nil when it is free.
    func cost(for error: HttpError) -> RetryCost? {
        guard let reason = RetryCost.Reason(after: error), let budget = budget.budget(of: error.request?.origin) else {
            return nil
        }
        return RetryCost(from: budget, for: reason)
    }

    /// Why a retry after `delay` has too little time until the call's deadline; nil when it has enough.
    ///
    /// Not checked before a call's first attempt: some attempt has to find out that the server has become faster.
    func reasonTooLate(for delay: Duration, after error: HttpError) -> RetryReason? {
        guard let remaining = CallDeadline.remaining else { return nil }
        guard delay < remaining else { return .deadline(remaining: remaining) }
        guard let latencies, let usual = error.request.flatMap({ latencies.median(of: $0.origin) }),
            remaining - delay < usual
        else { return nil }
        return .cannotFinish(remaining: remaining - delay, usual: usual)
    }

    func mayRepeat(_ error: HttpError, isPartOfRefresh: Bool) -> Bool {
        // Whatever its method promises, the request may have spent its credential: the session knows when to send it
        // again.
        if isPartOfRefresh, error.delivery == .maybeExecuted { return false }
        return error.isSafeToRepeat || retriesNonIdempotentRequests
    }

    func remainingPause(for error: HttpError) -> Duration? {
        error.request.flatMap { gate?.remainingPause(of: $0.origin) }
    }

    func closeGate(for pause: Duration, after error: HttpError) {
        guard pause > .zero, let origin = error.request?.origin else { return }
        // An open circuit is not an order of the server, and knows by itself when to let a request through.
        guard !error.isRefusal else { return }
        // A redirect has led to another origin, and it is that origin that asks to wait.
        if let response = error.response, response.isFromElsewhere(than: origin) { return }
        gate?.close(origin, for: pause)
    }
}

extension BackoffRetrier.Configuration: RetrierFactory {
    /// Creates a retrier that follows these rules.
    public func create<R: Request>(for request: R) -> any Retrier {
        BackoffRetrier(self)
    }

    /// These rules: calls whose failures are retried in the same way, for as long, and from the same budget, are alike.
    public var sharingKey: SharingKey? { SharingKey(Key(self)) }

    /// The same rules with the gate's ``RetryGate/anonymous``.
    public var anonymous: any RetrierFactory { with { $0.gate = gate?.anonymous } }
}

/// The rules that are equal in two policies whose calls fail alike.
private struct Key: Hashable {
    let maxAttempts: Int
    let delays: [[ClosedRange<Duration>]]
    let condition: RetryCondition
    let retryAfterCap: Duration
    let retriesNonIdempotentRequests: Bool
    let objects: [ObjectIdentifier?]

    init(_ policy: BackoffRetrier.Configuration) {
        (maxAttempts, condition) = (policy.maxAttempts, policy.condition)
        delays = [policy.backoff, policy.throttlingBackoff ?? policy.backoff].map {
            $0.ranges(ofRetries: policy.maxAttempts - 1)
        }
        (retryAfterCap, retriesNonIdempotentRequests) = (policy.retryAfterCap, policy.retriesNonIdempotentRequests)
        objects = [policy.budget.keeper, policy.gate, policy.latencies].map {
            $0.flatMap(ObjectIdentifier.init(ofAny:))
        }
    }
}
