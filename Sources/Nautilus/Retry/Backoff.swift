import Foundation

/// The schedule of delays between attempts: a value without state.
///
/// The cap is applied before the jitter: if it were applied afterwards, many delays would be exactly the cap, and the
/// clients would come back together.
public struct Backoff: Sendable {
    private enum Growth {
        case step(@Sendable (_ retry: Int) -> Duration)
        case decorrelated(base: Duration)
    }

    private let growth: Growth
    private let cap: Duration
    private let jitter: Backoff.Jitter

    /// The same delay before every retry.
    ///
    /// - Parameters:
    ///   - delay: The delay before jitter, and its cap.
    ///   - jitter: How the delay is randomised. Default: full: clients that failed together must not come back
    ///     together.
    public static func constant(_ delay: Duration, jitter: Backoff.Jitter = .full) -> Backoff {
        Backoff(growth: .step { _ in delay }, cap: delay, jitter: jitter)
    }

    /// `base`, `base × factor`, `base × factor²`, … up to `cap`.
    ///
    /// - Parameters:
    ///   - base: The first delay. Default: 0.5 s, longer than a usual answer takes, shorter than a person's patience.
    ///   - factor: The factor by which each delay grows. Default: 2, so that the load of failing clients halves each
    ///     time.
    ///   - cap: The longest delay before jitter. Default: 20 s, as in the AWS SDKs: whether to wait longer is up to the
    ///     user.
    ///   - jitter: How delays are randomised. Default: full: clients that failed together must not come back together.
    public static func exponential(
        base: Duration = .milliseconds(500),
        factor: Double = 2,
        cap: Duration = .seconds(20),
        jitter: Backoff.Jitter = .full
    ) -> Backoff {
        Backoff(growth: .step { base.multiplied(by: factor, power: $0 - 1, cap: cap) }, cap: cap, jitter: jitter)
    }

    /// Decorrelated jitter: a random delay from `base` to three times the previous delay, up to `cap`.
    ///
    /// The first delay is drawn from `base` to three times `base`. Source: "Exponential Backoff And Jitter", AWS
    /// Architecture Blog, 2015.
    ///
    /// - Parameters:
    ///   - base: The shortest delay. Default: 0.5 s, as in ``exponential(base:factor:cap:jitter:)``.
    ///   - cap: The longest delay. Default: 20 s, likewise.
    public static func decorrelated(base: Duration = .milliseconds(500), cap: Duration = .seconds(20)) -> Backoff {
        Backoff(growth: .decorrelated(base: base), cap: cap, jitter: .none)
    }

    /// A custom schedule.
    ///
    /// - Parameters:
    ///   - cap: The longest delay before jitter. Default: 20 s, as in ``exponential(base:factor:cap:jitter:)``.
    ///   - jitter: How delays are randomised. Default: full: clients that failed together must not come back together.
    ///   - delay: Returns the delay before jitter for a retry's number, from 1. A negative delay counts as zero.
    public static func custom(
        cap: Duration = .seconds(20),
        jitter: Backoff.Jitter = .full,
        _ delay: @escaping @Sendable (_ retry: Int) -> Duration
    ) -> Backoff {
        Backoff(growth: .step(delay), cap: cap, jitter: jitter)
    }

    /// The same schedule with delays of at most `limit` before jitter.
    func capped(at limit: Duration) -> Backoff { Backoff(growth: growth, cap: min(cap, limit), jitter: jitter) }

    /// Whether the delays are random.
    var isJittered: Bool {
        if case .decorrelated = growth { return true }
        return jitter != .none
    }

    /// The shortest and the longest delay before each of the first `count` retries, a hundred at most.
    func ranges(ofRetries count: Int) -> [ClosedRange<Duration>] {
        var ranges: [ClosedRange<Duration>] = []
        for retry in 1...max(1, min(count, 100)) {
            let (before, most) = (ranges.last?.lowerBound ?? .zero, ranges.last?.upperBound ?? .zero)
            let shortest = delay(beforeRetry: retry, previous: before, random: Extreme(fraction: 0))
            let longest = delay(beforeRetry: retry, previous: most, random: Extreme(fraction: 1))
            ranges.append(shortest...max(shortest, longest))
        }
        return ranges
    }

    /// Always draws the same number, to get the lowest or the highest delay.
    private struct Extreme: RandomSource {
        let fraction: Double
        func nextFraction() -> Double { fraction }
    }

    /// The delay before a retry: never negative, never above the cap.
    ///
    /// - Parameters:
    ///   - retry: The retry's number, from 1: retry 1 follows the first attempt.
    ///   - previous: The delay before the previous retry; zero for the first. Used only by decorrelated jitter.
    ///   - random: The source of the jitter.
    public func delay(beforeRetry retry: Int, previous: Duration, random: any RandomSource) -> Duration {
        switch growth {
        case .step(let step):
            return jitter.applied(to: step(max(1, retry)).clamped(to: cap), drawing: random)
        case .decorrelated(let base):
            // The first delay is random, too: clients that all wait the same time come back together.
            let ceiling = max(base, previous).multiplied(by: 3, power: 1, cap: cap).clamped(to: cap)
            let floor = base.clamped(to: cap)
            return floor + (ceiling - floor).scaled(by: random.clampedFraction())
        }
    }
}

extension Duration {
    fileprivate func clamped(to cap: Duration) -> Duration {
        max(.zero, min(self, cap))
    }

    /// `self × factor^power`, at least zero and at most `cap`, also for infinity and NaN; computed in floating point first,
    /// since a Duration traps on overflow.
    fileprivate func multiplied(by factor: Double, power: Int, cap: Duration) -> Duration {
        let seconds = self / .seconds(1) * pow(factor, Double(power))
        return seconds < cap / .seconds(1) ? .seconds(max(0, seconds)) : cap
    }
}

extension Backoff {
    /// How a delay is randomised, so that clients that failed together do not come back together.
    ///
    /// Full and equal jitter are those of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    public enum Jitter: Hashable, Sendable {
        /// The delay as it is: for tests, and for a single client.
        case none
        /// Anything from zero to the delay: the least work for a contended server, hence the default.
        case full
        /// Half of the delay plus anything up to the other half: never an immediate retry.
        case equal

        func applied(to delay: Duration, drawing random: any RandomSource) -> Duration {
            switch self {
            case .none: delay
            case .full: delay.scaled(by: random.clampedFraction())
            case .equal: delay / 2 + (delay / 2).scaled(by: random.clampedFraction())
            }
        }
    }
}

extension Duration {
    /// A fraction of the duration; never more than all of it, though a Double cannot express every Duration.
    package func scaled(by fraction: Double) -> Duration {
        min(self, self * fraction)
    }
}
