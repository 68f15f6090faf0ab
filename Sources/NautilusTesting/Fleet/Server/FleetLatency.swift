import Foundation
import Nautilus

/// How long something takes in a ``FleetServer``: serving a request, a hop of the network.
///
/// ```swift
/// FleetLatency.logNormal(median: .milliseconds(8), p99: .milliseconds(60))  // most are quick, a few are not
/// ```
public struct FleetLatency: Sendable {
    private let drawing: @Sendable (any RandomSource) -> Duration

    /// A distribution of your own; a negative duration counts as zero.
    ///
    /// - Parameter draw: One duration, drawn from the source alone, so that the same seed gives the same run.
    public static func custom(_ draw: @escaping @Sendable (_ random: any RandomSource) -> Duration) -> FleetLatency {
        FleetLatency(drawing: draw)
    }

    /// Always the same.
    public static func constant(_ duration: Duration) -> FleetLatency {
        .custom { _ in duration }
    }

    /// Anything in the range, all equally likely.
    public static func uniform(_ range: ClosedRange<Duration>) -> FleetLatency {
        .custom { range.lowerBound + (range.upperBound - range.lowerBound) * $0.nextFraction() }
    }

    /// Often short, sometimes several times the mean: the distribution that queueing theory assumes.
    public static func exponential(mean: Duration) -> FleetLatency {
        .custom { mean * -log($0.nextPositiveFraction()) }
    }

    /// The normal distribution, folded at zero, since nothing takes less than no time.
    public static func normal(mean: Duration, deviation: Duration) -> FleetLatency {
        .custom { random in
            let duration = mean + deviation * random.nextNormal()
            return duration < .zero ? .zero - duration : duration
        }
    }

    /// The long tail of real services.
    ///
    /// - Parameters:
    ///   - median: Half take less.
    ///   - p99: One in a hundred takes longer.
    public static func logNormal(median: Duration, p99: Duration) -> FleetLatency {
        // 2.3263 standard deviations above the mean lies the 99th percentile of a normal distribution.
        let deviation = log(p99 / median) / 2.326347874
        return .custom { median * exp(deviation * $0.nextNormal()) }
    }

    func draw(from random: any RandomSource) -> Duration {
        drawing(random).addable
    }
}

extension RandomSource {
    /// A draw that has a logarithm.
    func nextPositiveFraction() -> Double {
        max(nextFraction(), .leastNormalMagnitude)
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958).
    fileprivate func nextNormal() -> Double {
        let radius = (-2 * log(nextPositiveFraction())).squareRoot()
        return radius * cos(2 * .pi * nextFraction())
    }
}
