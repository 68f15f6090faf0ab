/// How many requests a server takes from each client, by the rule of nginx's `limit_req`.
///
/// A bucket leaks at a steady rate, and every request that is taken fills it by one. While it holds more than nothing,
/// requests are in excess of the rate; those beyond the burst are refused, and fill nothing.
public struct RequestLimit: Sendable {
    /// The time in which the bucket leaks one request: one divided by the rate.
    public let interval: Duration
    /// How many requests in excess of the rate are taken.
    public let burst: Int
    /// Whether those in excess wait until the rate has room for them; else they are served at once, `nodelay`.
    public let isDelaying: Bool
    /// The status of a refusal.
    public let status: Int
    /// The clock for measuring the rate and for sleeping a delay.
    public let clock: any Clock<Duration>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: The rate; less than 1 counts as 1.
    ///   - burst: How many more are taken at once; less than 0 counts as 0. Default: 0, as nginx has it.
    ///   - isDelaying: Whether those wait. Default: false, `nodelay`: what most APIs want.
    ///   - status: The status of a refusal. Default: 429, to which most change nginx's 503.
    ///   - clock: The clock for measuring the rate. Default: the continuous clock.
    public init(
        requestsPerSecond: Int,
        burst: Int = 0,
        isDelaying: Bool = false,
        status: Int = 429,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.interval = .nanoseconds(1_000_000_000 / min(max(1, requestsPerSecond), 1_000_000_000))
        self.burst = max(0, burst)
        self.isDelaying = isDelaying
        self.status = status
        self.clock = clock
    }

    /// How many requests an empty bucket takes at once.
    public var quota: Int { burst + 1 }
}
