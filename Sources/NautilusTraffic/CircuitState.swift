import Nautilus

/// The state of a ``CircuitBreaker``'s circuit to one origin.
public enum CircuitState: Hashable, Sendable {
    /// They go; their outcomes are counted.
    case closed
    /// None goes, for as long as is left of the pause.
    case open(remaining: Duration)
    /// The pause is over: one goes, to see whether the origin has recovered, and decides for all.
    case halfOpen(isProbing: Bool)
}

/// A change of the circuit of one origin.
public struct CircuitEvent: Hashable, Sendable {
    /// A change of a circuit.
    public enum Change: Hashable, Sendable {
        /// Too many requests have failed, or the probe has: none goes for this long.
        case opened(pause: Duration)
        /// One request goes to see whether the origin has recovered.
        case probed
        /// The probe has succeeded.
        case closed
    }

    /// The origin whose circuit has changed.
    public let origin: HttpOrigin
    /// The change.
    public let change: Change
}

extension CircuitState: CustomStringConvertible {
    /// The state in a few words.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .open(let remaining): "open for \(remaining.brief)"
        case .halfOpen(isProbing: true): "half-open, probing"
        case .halfOpen(isProbing: false): "half-open"
        }
    }
}

/// When a ``CircuitBreaker`` opens, and for how long, each with the reason for its default.
public struct CircuitLimits: Sendable {
    /// The part of the requests in the window that has to fail.
    public let failureRate: Double
    /// How many requests have to be in the window for their rate to count.
    public let minimumThroughput: Int
    /// How far back the outcomes count.
    public let window: Duration
    /// How long nothing is sent: retry 1 is the pause after the first opening, retry 2 the one after a failed probe.
    public let pause: Backoff
    /// The statuses that count as failures of the origin.
    public let failingStatuses: HttpStatusCodes

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - failureRate: From 0.01 to 1; a value outside is cut, and NaN is the default. Default: 0.5: a server that
    ///     fails every second request is not helped by more of them, and one that fails every third still serves two.
    ///   - minimumThroughput: Less than 1 counts as 1. Default: 20: of three requests two may fail by accident.
    ///   - window: Outcomes count for nine to ten tenths of it. At least a millisecond. Default: 10 s: long enough for
    ///     an app's traffic to be judged by, short enough to open soon after an outage begins.
    ///   - pause: Default: exponential from 5 s to 60 s with equal jitter: a restart takes seconds, an outage minutes,
    ///     and the probes of a whole fleet must not come together. Never less than a millisecond.
    ///   - failingStatuses: Default: 500…599, by which the server itself says that it has failed. A 4xx is the
    ///     request's fault. Add 429 where a rate limit means overload: by default it is an order to slow down, which
    ///     retriers and their gate heed, and nothing is broken.
    public init(
        failureRate: Double = 0.5,
        minimumThroughput: Int = 20,
        window: Duration = .seconds(10),
        pause: Backoff = .exponential(base: .seconds(5), cap: .seconds(60), jitter: .equal),
        failingStatuses: HttpStatusCodes = HttpStatusCodes(500...599)
    ) {
        self.failureRate = failureRate.isNaN ? 0.5 : min(max(failureRate, 0.01), 1)
        self.minimumThroughput = max(1, minimumThroughput)
        self.window = max(.milliseconds(1), window.clampedToCentury)
        self.pause = pause
        self.failingStatuses = failingStatuses
    }

    /// The pause to make if the request with `permit` fails.
    func pause(after permit: CircuitMachine.Permit, drawing random: any RandomSource) -> Duration {
        max(
            .milliseconds(1),
            pause.delay(beforeRetry: permit.openings + 1, previous: permit.previousPause, random: random)
        )
    }
}
