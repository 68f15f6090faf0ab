import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A gate that opens for a crowd")
struct GateOpeningTests {
    /// When each of many retries has passed, after the gate was closed for `pause` and `arrival` has gone by.
    private static func passages(
        _ count: Int,
        pause: Duration,
        arrival: Duration = .zero,
        seed: UInt64 = 1,
        through makeGate: @escaping @Sendable (Simulated) -> any RetryGate
    ) async throws -> [Duration] {
        try await simulate(seed: seed) { simulation in
            let (gate, origin, clock) = (makeGate(simulation), try testOrigin(), simulation.clock)
            gate.close(origin, for: pause)
            clock.advance(by: arrival)
            return try await withThrowingTaskGroup(of: Duration.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await gate.pass(to: origin)
                        return clock.now.offset
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
        }
    }

    private static let gates: [@Sendable (Simulated) -> any RetryGate] = [
        { OriginPauses(clock: $0.clock, random: $0.random) },
        { RefreshCoordinator(credential: "a", clock: $0.clock, random: $0.random) { $0 } },
    ]

    @Test(
        "of a thousand that wait for the end of a pause, the first goes then, and fifty in each second",
        arguments: 0...1
    )
    func crowd(gate: Int) async throws {
        let passages = try await Self.passages(1_000, pause: .seconds(20), through: Self.gates[gate])
        #expect(passages[0] == .seconds(20))
        #expect(passages[1] > .seconds(20) + .milliseconds(20))
        #expect(passages[999] <= .seconds(30) + .milliseconds(20))
        // Half of them in turns; those for whom there are none within the span, at random in it: a hundred a second.
        for second in 20..<30 {
            let count = passages.filter { $0 >= .seconds(second) && $0 < .seconds(second + 1) }.count
            #expect((70...135).contains(count), "\(count) in second \(second)")
        }
    }

    @Test("the turns are 20 ms long, and each goes at the drawn moment of its own")
    func turns() async throws {
        let passages = try await Self.passages(5, pause: .seconds(2)) {
            OriginPauses(clock: $0.clock, random: FixedRandomSource(0.25))
        }
        #expect(passages == [2_000, 2_025, 2_045, 2_065, 2_085].map { .milliseconds($0) })
    }

    @Test("the same seed releases the waiting calls in the same order, another seed in another")
    func deterministic() async throws {
        let runs = try await [1, 1, 2].map { $0 as UInt64 }.asyncMap {
            try await Self.passages(100, pause: .seconds(2), seed: $0, through: Self.gates[0])
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] != runs[2])
    }

    @Test(
        "C17: retries that come just after a pause take slots as well, for as long as the pause took",
        arguments: [0, 1_979, 2_000, 3_999]
    )
    func late(after: Int) async throws {
        let passages = try await Self.passages(2, pause: .seconds(2), arrival: .milliseconds(2_000 + after)) {
            OriginPauses(clock: $0.clock, random: FixedRandomSource(0))
        }
        let start = Duration.milliseconds(2_000 + after)
        // A simulation's clock that was moved stays there.
        #expect(passages == [start, after < 2_000 ? start + .milliseconds(20) : start])
    }

    @Test("when the first that goes is sent away again, those behind it wait for the new pause")
    func closedAgain() async throws {
        let passages = try await simulate { simulation in
            let (origin, clock) = (try testOrigin(), simulation.clock)
            let gate = OriginPauses(clock: clock, random: FixedRandomSource(0.5))
            gate.close(origin, for: .seconds(1))
            return try await withThrowingTaskGroup(of: Duration.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await gate.pass(to: origin)
                        let now = clock.now.offset
                        // The server takes ten in a second, and sends away the next.
                        if now > .milliseconds(1_210), now < .milliseconds(1_250) {
                            gate.close(origin, for: .seconds(10))
                        }
                        return now
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
        }
        #expect(passages.filter { $0 < .seconds(11) }.count == 12)
        #expect(passages.filter { $0 >= .seconds(11) }.count == 88)
    }

    @Test("retries that have waited for a refresh go on in slots, too")
    func refresh() async throws {
        let passages = try await simulate { simulation in
            let (origin, clock) = (try testOrigin(), simulation.clock)
            let coordinator = RefreshCoordinator(credential: "a", clock: clock, random: FixedRandomSource(0)) { _ in
                try await clock.sleep(for: .seconds(3))
                return "b"
            }
            let credential = try await coordinator.credential()
            return try await withThrowingTaskGroup(of: Duration.self) { group in
                group.addTask {
                    _ = try await coordinator.refresh(rejecting: credential)
                    return clock.now.offset
                }
                for _ in 0..<4 {
                    group.addTask {
                        try await clock.sleep(for: .seconds(1))
                        try await coordinator.pass(to: origin)
                        return clock.now.offset
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
        }
        #expect(passages == [3_000, 3_000, 3_020, 3_040, 3_060].map { .milliseconds($0) })
    }

    @Test("a call that is cancelled while it waits for the gate leaves at once")
    func cancelled() async throws {
        let outcome = try await simulate { simulation in
            let (origin, clock) = (try testOrigin(), simulation.clock)
            let gate = OriginPauses(clock: clock, random: FixedRandomSource(0))
            gate.close(origin, for: .seconds(2))
            return try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        do { try await gate.pass(to: origin) } catch { return "cancelled at \(clock.now.offset)" }
                        return "passed"
                    }
                }
                group.addTask {
                    try await clock.sleep(for: .milliseconds(2_100))
                    return "cancel"
                }
                var outcomes: [String: Int] = [:]
                for try await outcome in group {
                    if outcome == "cancel" { group.cancelAll() }
                    outcomes[outcome, default: 0] += 1
                }
                return outcomes
            }
        }
        #expect(outcome == ["passed": 6, "cancel": 1, "cancelled at 2.1 seconds": 44])
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
