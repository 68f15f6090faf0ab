import NautilusTesting
import Testing

@testable import Nautilus

@Suite("The schedule of delays")
struct BackoffTests {
    private func delays(
        _ backoff: Backoff,
        count: Int,
        random: any RandomSource = FixedRandomSource(1)
    ) -> [Duration] {
        var delays: [Duration] = []
        for retry in 1...count {
            delays.append(backoff.delay(beforeRetry: retry, previous: delays.last ?? .zero, random: random))
        }
        return delays
    }

    @Test("exponential doubles from 0.5 s and stops at 20 s")
    func exponential() {
        #expect(
            delays(.exponential(), count: 8)
                == [0.5, 1, 2, 4, 8, 16, 20, 20].map { Duration.seconds($0) }
        )
    }

    @Test("constant does not grow, custom asks")
    func others() {
        #expect(delays(.constant(.seconds(3)), count: 2) == [.seconds(3), .seconds(3)])
        #expect(delays(.custom { .seconds($0 * 10) }, count: 3) == [.seconds(10), .seconds(20), .seconds(20)])
    }

    @Test("A19: full jitter at the cap stays below it, and rarely meets it: the cap comes first")
    func capBeforeJitter() {
        let random = SeededRandomSource(seed: 19)
        let delays = (0..<10_000).map { _ in
            Backoff.exponential().delay(beforeRetry: 50, previous: .zero, random: random)
        }
        #expect(delays.allSatisfy { $0 <= .seconds(20) && $0 >= .zero })
        #expect(delays.count { $0 == .seconds(20) } < 100)
    }

    @Test(
        "A20: attempt 10 000 has a finite delay, and so has any other",
        arguments: [10_000, .max, 0, -5],
        [
            Backoff.exponential(), .exponential(factor: 1e300), .decorrelated(), .constant(.seconds(1)),
            .custom { _ in .seconds(Int64.max) },
            .exponential(base: .seconds(Int64.max / 2), cap: .seconds(Int64.max / 2)), .custom { _ in .seconds(-1) },
            .exponential(factor: .nan), .exponential(factor: -2), .exponential(factor: .infinity),
        ] as [Backoff]
    )
    func noOverflow(retry: Int, backoff: Backoff) {
        let delay = backoff.delay(beforeRetry: retry, previous: .seconds(Int64.max / 2), random: FixedRandomSource(1))
        #expect(delay >= .zero)
        #expect(delay <= .seconds(Int64.max / 2))
    }

    @Test("A21: a draw of zero waits for nothing and does not reset the growth", arguments: [Backoff.Jitter.full])
    func zeroDraw(_ jitter: Backoff.Jitter) {
        #expect(
            delays(.exponential(), count: 4, random: FixedRandomSource(0, 0, 1)) == [
                .zero, .zero, .seconds(2), .seconds(4),
            ]
        )
    }

    @Test("equal jitter keeps half of the delay")
    func equalJitter() {
        #expect(
            delays(.exponential(jitter: .equal), count: 2, random: FixedRandomSource(0, 1)) == [
                .milliseconds(250), .seconds(1),
            ]
        )
    }

    @Test("decorrelated jitter draws between the base and three times the delay before, the first time of the base")
    func decorrelated() {
        #expect(
            delays(.decorrelated(base: .seconds(1), cap: .seconds(20)), count: 5)
                == [.seconds(3), .seconds(9), .seconds(20), .seconds(20), .seconds(20)]
        )
        #expect(
            delays(.decorrelated(base: .seconds(1)), count: 2, random: FixedRandomSource(0)) == [
                .seconds(1), .seconds(1),
            ]
        )
    }

    @Test("the delays of each retry range from the lowest draw to the highest, for a hundred retries at most")
    func ranges() {
        #expect(
            Backoff.exponential(base: .seconds(1)).ranges(ofRetries: 3) == [
                .zero ... .seconds(1), .zero ... .seconds(2), .zero ... .seconds(4),
            ]
        )
        #expect(
            Backoff.decorrelated(base: .seconds(1)).ranges(ofRetries: 2) == [
                .seconds(1) ... .seconds(3), .seconds(1) ... .seconds(9),
            ]
        )
        #expect(Backoff.exponential().ranges(ofRetries: 0).count == 1)
        #expect(Backoff.exponential().ranges(ofRetries: 1_000).count == 100)
    }

    @Test("a schedule that is capped keeps the lower cap", arguments: [(30, 30), (90, 60)])
    func capped(limit: Int, delay: Int) {
        let backoff = Backoff.constant(.seconds(60), jitter: .none).capped(at: .seconds(limit))
        #expect(delays(backoff, count: 1) == [.seconds(delay)])
    }

    @Test("a draw outside 0...1 is clamped, and NaN counts as zero", arguments: [(7.0, 0.5), (-1, 0), (.nan, 0)])
    func oddDraws(draw: Double, seconds: Double) {
        #expect(delays(.exponential(), count: 1, random: FixedRandomSource(draw)) == [.seconds(seconds)])
    }
}
