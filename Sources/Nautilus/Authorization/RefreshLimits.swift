/// The bounds within which a ``RefreshCoordinator`` refreshes, each with the reason for its default.
public struct RefreshLimits: Sendable {
    /// How long a refresh may take before the calls that wait for it fail.
    public let timeLimit: Duration
    /// How long after the time limit a refresh that ignores its cancellation still bars the next one.
    public let grace: Duration
    /// How many refreshes may start within ``window``.
    public let maxStarts: Int
    /// The time over which ``maxStarts`` counts.
    public let window: Duration
    /// How long after a transient failure no refresh starts: retry 1 is the pause after the first failure in a row.
    public let coolDown: Backoff
    /// The longest that the token endpoint's `Retry-After` lengthens a cool-down.
    public let retryAfterCap: Duration
    /// How long a call without a deadline waits, after failed refreshes, for the next one to start.
    public let patience: Duration
    /// How many cool-downs one call waits out.
    public let maxCoolDowns: Int
    /// The most time before expiry at which a background refresh starts.
    public let maxLeeway: Duration

    /// Creates limits; negative values count as zero.
    ///
    /// - Parameters:
    ///   - timeLimit: Default: 30 s, longer than a slow token endpoint takes, shorter than the 60 s after which URL
    ///     loading, and most people, give up.
    ///   - grace: Default: 30 s, as long again as the time limit: a rotating token that is spent twice ends the
    ///     session, so the next refresh waits for the overdue one as long as a server could plausibly still be working
    ///     on it. One may then start beside it, since a closure that hangs for good would end the session as surely; a
    ///     third never does while two have not ended.
    ///   - maxStarts: Default: 5, more than a healthy server ever causes, few enough not to matter to a token endpoint.
    ///     At least 1.
    ///   - window: Default: 30 s. Together with `maxStarts`: ten refreshes a minute at worst.
    ///   - coolDown: Default: exponential from 1 s to 30 s with equal jitter: calls wait during a cool-down, so it
    ///     starts short; it is never zero, since a failed refresh was a request that the server could not serve.
    ///   - retryAfterCap: Default: 60 s, as that of `BackoffRetrier`: a server that names a longer time is asked once a
    ///     minute, so that no mistake of its own signs all users out for a day.
    ///   - patience: Default: 30 s, so that with the last refresh's own time limit, if that is the default, a call
    ///     waits a minute at most, as long as URL loading does. A call with a deadline waits as long as that allows.
    ///   - maxCoolDowns: Default: 10: some three minutes of the default cool-downs, for calls whose deadline is far
    ///     away. Zero: no call waits for more than one refresh.
    ///   - maxLeeway: Default: 60 s, ample for one refresh and one repetition of it. Zero: no background refresh.
    public init(
        timeLimit: Duration = .seconds(30),
        grace: Duration = .seconds(30),
        maxStarts: Int = 5,
        window: Duration = .seconds(30),
        coolDown: Backoff = .exponential(base: .seconds(1), cap: .seconds(30), jitter: .equal),
        retryAfterCap: Duration = .seconds(60),
        patience: Duration = .seconds(30),
        maxCoolDowns: Int = 10,
        maxLeeway: Duration = .seconds(60)
    ) {
        self.timeLimit = timeLimit.clampedToCentury
        self.grace = grace.clampedToCentury
        self.maxStarts = max(1, maxStarts)
        self.window = window.clampedToCentury
        self.coolDown = coolDown
        self.retryAfterCap = retryAfterCap.clampedToCentury
        self.patience = patience.clampedToCentury
        // Sums with it must not overflow.
        self.maxCoolDowns = max(0, min(maxCoolDowns, .max / 2))
        self.maxLeeway = maxLeeway.clampedToCentury
    }

    /// How long before its expiry a credential is refreshed in the background: a tenth of its lifetime, at most
    /// ``maxLeeway``.
    ///
    /// A tenth keeps short-lived credentials from being refreshed all the time.
    public func leeway(forLifetime lifetime: Duration) -> Duration {
        min(maxLeeway, lifetime.clampedToCentury / 10)
    }
}
