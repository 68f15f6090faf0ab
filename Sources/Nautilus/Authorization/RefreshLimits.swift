/// The bounds within which a ``RefreshCoordinator`` refreshes, each with the reason for its default.
public struct RefreshLimits: Sendable {
    /// How long a refresh may take before the calls that wait for it fail.
    ///
    /// 30 s: longer than a slow token endpoint takes, shorter than the 60 s after which URL loading, and most people,
    /// give up.
    public let timeLimit: Duration
    /// How long after the time limit a refresh that ignores its cancellation still blocks the next one. After that, a
    /// second refresh may start beside it; a third never starts while two are running.
    ///
    /// 30 s, as long again as the time limit: using a rotating token twice ends the session, so the next refresh waits
    /// as long as a server could plausibly still be working on the overdue one. A closure that hangs for good would end
    /// the session just as surely.
    public let grace: Duration
    /// How many refreshes may start within ``window``; at least 1.
    ///
    /// 5: more than a healthy server ever causes, and few enough not to burden a token endpoint.
    public let maxStarts: Int
    /// The time over which ``maxStarts`` counts.
    ///
    /// 30 s: together with ``maxStarts``, ten refreshes a minute at worst.
    public let window: Duration
    /// The pauses after transient failures, during which no refresh starts: the delay before retry 1 after the first
    /// failure in a row, the delay before retry 2 after the second, and so on.
    ///
    /// Exponential from 1 s to 30 s with equal jitter. It starts short because calls wait during a cool-down; it is
    /// never zero because the server could not serve the failed request.
    public let coolDown: Backoff
    /// The longest cool-down that the token endpoint can ask for by `Retry-After`.
    ///
    /// 60 s, as for `BackoffRetrier`: a server that names a longer time is asked once a minute, so that a mistake of
    /// the server does not sign out all users for a day.
    public let retryAfterCap: Duration
    /// How long a call without a deadline waits, after failed refreshes, for the next one to start. A call with a
    /// deadline waits as long as its deadline allows.
    ///
    /// 30 s: together with the last refresh's time limit, also 30 s by default, a call waits a minute at most, as long
    /// as URL loading does.
    public let maxWait: Duration
    /// How many cool-downs one call waits out. Zero: no call waits for more than one refresh.
    ///
    /// 10, some three minutes of default cool-downs, for calls with a distant deadline.
    public let maxCoolDowns: Int
    /// The longest time before expiry at which a background refresh starts. Zero: no background refresh.
    ///
    /// 60 s, ample for one refresh and one repetition of it.
    public let maxLeeway: Duration

    /// Creates limits; negative values count as zero. Every default gives its reason at the property.
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
    /// A tenth keeps short-lived credentials from being refreshed all the time.
    package func leeway(forLifetime lifetime: Duration) -> Duration {
        min(maxLeeway, lifetime.clampedToCentury / 10)
    }
}
