import Nautilus

/// The conditions under which a ``CircuitBreaker`` opens, and for how long; each default comes with its reason.
public struct CircuitLimits: Sendable {
    /// The share of the requests in the window that have to fail.
    public let failureRate: Double
    /// How many requests have to be in the window for their rate to count.
    public let minimumThroughput: Int
    /// How many failures in a row open the circuit, however slowly they come.
    public let failuresInARow: Int
    /// How long an outcome counts for the rate.
    public let window: Duration
    /// How long nothing is sent. Retry 1 stands for the pause after the first opening, retry 2 for the pause after a
    /// failed probe.
    public let pause: Backoff
    /// The statuses that count as failures of the origin.
    public let failingStatuses: HttpStatusCodes

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - failureRate: From 0.01 to 1, clamped. Default, also for NaN: 0.5. More requests do not help a server that
    ///     fails every second one; one that fails every third still serves two of three.
    ///   - minimumThroughput: At least 1. Default: 20, since two of three requests may fail by chance.
    ///   - failuresInARow: How many failures without a success open the circuit, however slowly they come, as behind
    ///     ``Pacing``. At least 1; `Int.max` means never. Default: nil, `minimumThroughput`, but 10 at most: a server
    ///     that serves half of its requests fails ten in a row once in a thousand times.
    ///   - window: At least a millisecond; an outcome counts for 90 to 100 % of it. Default: 10 s, long enough to judge
    ///     by an app's traffic, short enough to open soon.
    ///   - pause: At least a millisecond. Default: 5 s to 60 s, exponential, with equal jitter: a restart takes
    ///     seconds, an outage minutes, and the probes of a fleet must not come together.
    ///   - failingStatuses: Default: 500…599, by which the server says that it has failed. Add 429 if it signals
    ///     overload; otherwise it is a request to slow down, which retriers and their gate honour.
    public init(
        failureRate: Double = 0.5,
        minimumThroughput: Int = 20,
        failuresInARow: Int? = nil,
        window: Duration = .seconds(10),
        pause: Backoff = .exponential(base: .seconds(5), cap: .seconds(60), jitter: .equal),
        failingStatuses: HttpStatusCodes = HttpStatusCodes(500...599)
    ) {
        self.failureRate = failureRate.isNaN ? 0.5 : min(max(failureRate, 0.01), 1)
        self.minimumThroughput = max(1, minimumThroughput)
        self.failuresInARow = max(1, failuresInARow ?? min(10, minimumThroughput))
        self.window = max(.milliseconds(1), window.clampedToCentury)
        self.pause = pause
        self.failingStatuses = failingStatuses
    }

    /// The pause to apply if the request with `permit` fails.
    func pause(after permit: CircuitMachine.Permit, drawing random: any RandomSource) -> Duration {
        max(
            .milliseconds(1),
            pause.delay(beforeRetry: permit.openings + 1, previous: permit.previousPause, random: random)
        )
    }
}
