import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("OutcomeWindow: recent outcomes")
struct OutcomeWindowTests {
    @Test(
        "an outcome counts until the bucket it fell into is ten buckets old, to the nanosecond",
        arguments: [
            (Duration.seconds(10) - .nanoseconds(1), 1), (.seconds(10), 0), (.seconds(10) + .nanoseconds(1), 0),
        ]
    )
    func bounds(now: Duration, total: Int) {
        // The first bucket's first and last moments leave together.
        for start in [Duration.zero, .seconds(1) - .nanoseconds(1)] {
            var window = OutcomeWindow(length: .seconds(10))
            window.count(isFailure: true, at: start)
            window.forget(at: now)
            #expect(window.total == total)
        }
    }

    @Test("the rate is exact for what is written as a decimal fraction")
    func rate() {
        for (failures, total, rate) in [(1, 10, 0.1), (3, 10, 0.3), (7, 10, 0.7), (30, 300, 0.1), (1, 3, 1.0 / 3)] {
            var window = OutcomeWindow(length: .seconds(10))
            for index in 0..<total { window.count(isFailure: index < failures, at: .zero) }
            #expect(window.failureRate == rate)
        }
        #expect(OutcomeWindow(length: .seconds(10)).failureRate == 0)
    }

    @Test("time that runs backwards, far ahead, or in a window without length, does no harm")
    func extremes() {
        var window = OutcomeWindow(length: .zero)
        for now in [Duration.seconds(5), .zero, .seconds(Int64.max), .seconds(-1), .seconds(Int64.max)] {
            window.count(isFailure: true, at: now)
        }
        // The clock's end is a hundred years away, and everything since is in its bucket.
        #expect(window.total == 3)
    }

    @Test("an OutcomeWindow counts the same as a list of all outcomes")
    func model() {
        var generator = SeededGenerator(seed: 10)
        for _ in 0..<1_000 {
            var window = OutcomeWindow(length: .nanoseconds(100))
            var (now, all): (Int64, [(bucket: Int64, isFailure: Bool)]) = (0, [])
            for _ in 0..<30 {
                now += [0, 1, 9, 10, 11, 50, 99, 100, 101, 1_000].randomElement(using: &generator) ?? 0
                let isFailure = Bool.random(using: &generator)
                all.append((now / 10, isFailure))
                window.count(isFailure: isFailure, at: .nanoseconds(now))
                let recent = all.filter { $0.bucket > now / 10 - 10 }
                #expect(window.total == recent.count)
                #expect(window.failureRate == Double(recent.count { $0.isFailure }) / Double(recent.count))
            }
        }
    }
}
