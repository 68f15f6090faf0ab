import Testing

@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("The samples of latencies")
struct LatencySamplesTests {
    @Test(
        "a quantile is the shortest that this share has not exceeded",
        arguments: [
            (20, 0.95, 19), (20, 0.951, 20), (20, 0.949, 19), (20, 0.5, 10), (21, 0.5, 11), (1, 0.95, 1),
            (100, 0.99, 99), (20, 0, 1), (20, -1, 1), (20, .nan, 1), (20, 1, 20), (20, 7, 20), (20, 1e-12, 1),
        ]
    )
    func quantile(count: Int, quantile: Double, expected: Int) {
        var samples = LatencySamples()
        for latency in (1...count).reversed() { samples.add(.milliseconds(latency), at: .zero) }
        #expect(samples.quantile(quantile) == .milliseconds(expected))
    }

    @Test("without samples there is no quantile of latencies")
    func none() {
        #expect(LatencySamples().quantile(0.5) == nil)
    }

    @Test("samples that are sorted as they come are in the order of a full sort")
    func sorted() {
        var generator = SeededSamples(state: 7)
        var samples = LatencySamples()
        var all: [(time: Duration, latency: Duration)] = []
        for number in 0..<2000 {
            let (time, latency) = (Duration.seconds(number), Duration.milliseconds(generator.next() % 50))
            let start = time - .seconds(generator.next() % 150)
            samples.forget(before: start)
            all.removeAll { $0.time < start }
            samples.add(latency, at: time)
            all = (all + [(time, latency)]).suffix(LatencySamples.limit)
            let expected = all.map(\.latency).sorted()
            #expect(samples.count == expected.count)
            #expect(samples.quantile(0.5) == expected[(expected.count - 1) / 2])
            #expect(samples.quantile(1) == expected.last)
        }
    }

    private struct SeededSamples {
        var state: UInt64
        mutating func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 40)
        }
    }
}
