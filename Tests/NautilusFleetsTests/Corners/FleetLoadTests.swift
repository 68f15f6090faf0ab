import Nautilus
import TestSupport
import Testing

@testable import NautilusFleets

@Suite("The load of a fleet")
struct FleetLoadTests {
    @Test("even calls come at even distances, from one client after the other, up to the end")
    func even() {
        let calls = Array(FleetLoad.even(callsPerSecond: 4, for: .seconds(1)).calls(clients: 3, seed: 1))
        #expect(calls.map(\.number) == [0, 1, 2, 3])
        #expect(calls.map(\.client) == [0, 1, 2, 0])
        #expect(calls.map(\.start) == [.zero, .milliseconds(250), .milliseconds(500), .milliseconds(750)])
    }

    @Test("every client calls once, all at once")
    func atOnce() {
        let calls = Array(FleetLoad.atOnce.calls(clients: 3, seed: 1))
        #expect(calls.map(\.client) == [0, 1, 2])
        #expect(calls.allSatisfy { $0.start == .zero })
    }

    @Test("calls that know nothing of each other come at the rate, as irregularly as they should")
    func poisson() {
        let load = FleetLoad.poisson(callsPerSecond: 100, for: .seconds(100))
        let calls = Array(load.calls(clients: 10, seed: 7))
        // Within three standard deviations of 10 000.
        #expect((9_700...10_300).contains(calls.count))
        #expect(calls.map(\.number) == Array(0..<calls.count))
        #expect(calls.map(\.start) == calls.map(\.start).sorted())
        let distances = zip(calls, calls.dropFirst()).map { ($1.start - $0.start) / .milliseconds(10) }
        // 1 - 1/e of the distances are below the mean.
        #expect((6_100...6_540).contains(distances.count { $0 < 1 } * 10_000 / distances.count))
        let perClient = Dictionary(grouping: calls, by: \.client).mapValues(\.count)
        #expect(perClient.count == 10)
        #expect(perClient.values.allSatisfy { (900...1_100).contains($0) })
    }

    @Test("the same seed gives the same calls of a fleet, another seed others")
    func seeds() {
        let load = FleetLoad.poisson(callsPerSecond: 100, for: .seconds(1))
        #expect(Array(load.calls(clients: 5, seed: 1)) == Array(load.calls(clients: 5, seed: 1)))
        #expect(Array(load.calls(clients: 5, seed: 1)) != Array(load.calls(clients: 5, seed: 2)))
    }

    @Test(
        "no rate and no time are no calls",
        arguments: [
            FleetLoad.even(callsPerSecond: 0, for: .seconds(1)), .even(callsPerSecond: 10, for: .zero),
            .poisson(callsPerSecond: 0, for: .seconds(1)), .poisson(callsPerSecond: -1, for: .seconds(1)),
        ]
    )
    func none(load: FleetLoad) {
        #expect(Array(load.calls(clients: 1, seed: 1)).isEmpty)
    }
}
