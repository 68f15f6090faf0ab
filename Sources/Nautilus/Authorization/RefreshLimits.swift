/// The limits on the refreshes of a ``RefreshCoordinator``. Each gives the reason for its default.
public struct RefreshLimits: Sendable {
    /// How long a refresh may take before the calls that wait for it fail.
    ///
    /// 30 s: longer than a slow token endpoint takes, and shorter than the 60 s after which `URLSession` gives up by
    /// default.
    public let timeLimit: Duration
    /// How long after the time limit a refresh that ignores its cancellation still blocks the next one. After that, a
    /// second refresh may start while the first is still running. A third never starts while two are running.
    ///
    /// 30 s, as much as the time limit. Using a rotating token twice ends the session, so the next refresh waits while
    /// the server may still be working on the overdue one. It does not wait forever, because a closure that never
    /// returns would then block every later refresh.
    public let grace: Duration
    /// How many refreshes may start within ``window``; at least 1.
    ///
    /// 5: more than a healthy server ever makes necessary, and few enough not to overload a token endpoint.
    public let maxStarts: Int
    /// The time in which at most ``maxStarts`` refreshes may start.
    ///
    /// 30 s: together with ``maxStarts``, ten refreshes a minute at worst.
    public let window: Duration
    /// The pauses after transient failures, during which no refresh starts. After the first failure in a row, the pause
    /// is the backoff's delay before retry 1; after the second, the delay before retry 2; and so on.
    ///
    /// Exponential from 1 s to 30 s with equal jitter. The first pause is short, because calls wait during a cool-down.
    /// No pause is zero, because the server has just failed.
    public let coolDown: Backoff
    /// The longest cool-down that the token endpoint can ask for by `Retry-After`.
    ///
    /// 60 s, as for `BackoffRetrier`. If a server names a longer time, it is asked once a minute, so that a mistake of
    /// the server does not stop all refreshes for a day.
    public let retryAfterCap: Duration
    /// How long a call without a deadline waits, after failed refreshes, for the next one to start. A call with a
    /// deadline waits as long as its deadline allows.
    ///
    /// 30 s: together with the last refresh's time limit, also 30 s by default, a call waits a minute at most. This is
    /// also the default timeout of `URLSession`.
    public let maxWait: Duration
    /// How many cool-downs one call waits out. Zero: no call waits for more than one refresh.
    ///
    /// 10, which is three minutes of default cool-downs at most. The limit is for calls with a distant deadline.
    public let maxCoolDowns: Int
    /// The longest time before expiry at which a background refresh starts. Zero: no background refresh.
    ///
    /// 60 s, enough for one refresh and one repetition of it.
    public let maxLeeway: Duration

    /// Creates limits; negative values count as zero. The documentation of each property gives the reason for its
    /// default.
    public init(
        timeLimit: Duration = .seconds(30),
        grace: Duration = .seconds(30),
        maxStarts: Int = 5,
        window: Duration = .seconds(30),
        coolDown: Backoff = .exponential(base: .seconds(1), cap: .seconds(30), jitter: .equal),
        retryAfterCap: Duration = .seconds(60),
        maxWait: Duration = .seconds(30),
        maxCoolDowns: Int = 10,
        maxLeeway: Duration = .seconds(60)
    ) {
        self.timeLimit = timeLimit.clampedToCentury
        self.grace = grace.clampedToCentury
        self.maxStarts = max(1, maxStarts)
        self.window = window.clampedToCentury
        self.coolDown = coolDown
        self.retryAfterCap = retryAfterCap.clampedToCentury
        self.maxWait = maxWait.clampedToCentury
        // Sums with this value must not overflow.
        self.maxCoolDowns = max(0, min(maxCoolDowns, .max / 2))
        self.maxLeeway = maxLeeway.clampedToCentury
    }

    /// How long before its expiry a credential is refreshed in the background: a tenth of its lifetime, at most
    /// ``maxLeeway``.
    ///
    /// A tenth, so that short-lived credentials are not refreshed all the time.
    package func leeway(forLifetime lifetime: Duration) -> Duration {
        min(maxLeeway, lifetime.clampedToCentury / 10)
    }
}
