import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusFleets

@Suite("The latencies of a fleet")
struct FleetLatencyTests {
    @Test("constant and uniform durations are what they say, negative ones no time")
    func simple() {
        let range = FleetLatency.uniform(.milliseconds(10) ... .milliseconds(20))
        #expect(FleetLatency.constant(.seconds(2)).draw(from: FixedRandomSource(0.3)) == .seconds(2))
        #expect(range.draw(from: FixedRandomSource(0)) == .milliseconds(10))
        #expect(range.draw(from: FixedRandomSource(0.5)) == .milliseconds(15))
        #expect(FleetLatency.custom { _ in .seconds(-1) }.draw(from: FixedRandomSource(0)) == .zero)
    }

    @Test("a draw of zero is a long time, not one without end")
    func zeroDraw() {
        let draw = FleetLatency.exponential(mean: .milliseconds(10)).draw(from: FixedRandomSource(0))
        #expect(draw > .seconds(7) && draw < .seconds(8))
    }

    /// A distribution, and the shares of its draws that should lie below some durations in milliseconds.
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let latency: FleetLatency
        let shares: [Double: Double]
    }

    @Test(
        "ten thousand draws have the distribution's shape",
        arguments: [
            Shape(
                testDescription: "exponential",
                latency: .exponential(mean: .milliseconds(10)),
                shares: [10: 0.632, 20: 0.865, 46.05: 0.99]
            ),
            Shape(
                testDescription: "normal",
                latency: .normal(mean: .milliseconds(10), deviation: .milliseconds(2)),
                shares: [8: 0.159, 10: 0.5, 12: 0.841]
            ),
            Shape(
                testDescription: "normal, folded at zero",
                latency: .normal(mean: .zero, deviation: .milliseconds(1)),
                shares: [0: 0, 1: 0.683]
            ),
            Shape(
                testDescription: "log-normal",
                latency: .logNormal(median: .milliseconds(8), p99: .milliseconds(60)),
                shares: [8: 0.5, 60: 0.99]
            ),
        ]
    )
    func shape(_ shape: Shape) {
        let random = SeededRandomSource(seed: 3)
        let draws = (0..<10_000).map { _ in shape.latency.draw(from: random) / .milliseconds(1) }
        for (limit, share) in shape.shares {
            let seen = Double(draws.count { $0 < limit }) / 10_000
            #expect(abs(seen - share) < 0.015, "\(seen) below \(limit) ms")
        }
    }
}
