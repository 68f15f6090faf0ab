import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Slow failures and circuit breakers")
struct SlowFailuresTests {
    /// How a hundred calls end that come at once to a server that is down.
    private struct Outcome: Sendable {
        var kinds: [FailureKind] = []
        var last = Duration.zero
        var sends: [Duration] = []
    }

    private func outcome(
        pacing isPaced: Bool = true,
        failuresInARow: Int? = nil,
        deadline: Duration? = nil,
        seed: UInt64 = 0
    ) async throws -> Outcome {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(
                .status(503, header: [.retryAfter: "1"]),
                afterLast: .repeat,
                clock: clock
            )
            let breaker = CircuitBreaker(limits: CircuitLimits(failuresInARow: failuresInARow), clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: isPaced ? [Pacing(clock: clock), breaker] : [breaker],
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }),
                transport: transport,
                clock: clock
            ).with { $0.deadline = deadline }
            var outcome = Outcome()
            await withTaskGroup(of: FailureKind?.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        // Ten a second: the first answer comes before the tenth call.
                        try? await clock.sleep(for: .milliseconds(100 * index))
                        return await failureOfOneCall(of: service)
                    }
                }
                for await kind in group { outcome.kinds += kind.map { [$0] } ?? [] }
            }
            outcome.last = clock.now.offset
            outcome.sends = transport.attempts.map(\.start)
            return outcome
        }
    }

    @Test(
        "F24: behind pacing, ten failures in a row open the circuit, and a hundred calls to a server that is down fail soon",
        arguments: [0, 1, 2] as [UInt64]
    )
    func paced(seed: UInt64) async throws {
        let (without, with) = (try await outcome(failuresInARow: .max, seed: seed), try await outcome(seed: seed))
        #expect(with.kinds.count == 100 && without.kinds.count == 100)
        #expect(with.last < without.last / 2)
        #expect(with.sends.count < without.sends.count)
        #expect(with.sends.filter { $0 < .seconds(15) }.count <= 12)
    }

    @Test("F24: a deadline of the service bounds all waiting of a call, in queues as well", arguments: [true, false])
    func deadline(isPaced: Bool) async throws {
        let outcome = try await outcome(pacing: isPaced, failuresInARow: .max, deadline: .seconds(20))
        #expect(outcome.kinds.count == 100)
        // The last call comes after 9.9 s.
        #expect(outcome.last <= .milliseconds(29_900))
    }

    /// Has requests end, one each interval, until the circuit is no longer closed.
    ///
    /// - Returns: How many have ended.
    private func end(
        _ machine: inout CircuitMachine,
        _ outcomes: [CircuitMachine.Outcome],
        from start: Duration,
        every interval: Duration
    ) -> Int {
        for (index, outcome) in outcomes.enumerated() {
            guard let permit = machine.immediatePermit() else { return index }
            _ = machine.end(permit, outcome, at: start + interval * index)
        }
        return outcomes.count
    }

    @Test("F24: ten failures in a row open the circuit, an hour apart or not; a success or a probe begins anew")
    func inARow() {
        let failure = CircuitMachine.Outcome.failure(pause: .seconds(5))
        let failures = { (count: Int) in Array(repeating: failure, count: count) }
        for interval in [Duration.zero, .seconds(11), .seconds(3600)] {
            var machine = CircuitMachine(limits: CircuitLimits())
            let outcomes = failures(9) + [.nothing, .success] + failures(12)
            let first = end(&machine, outcomes, from: .zero, every: interval)
            #expect(first == 21)
            // The probe closes it, and the row begins anew.
            let now = interval * 20 + .seconds(5)
            guard case .go(let probe) = machine.ask(at: now).answer else {
                Issue.record("no probe")
                return
            }
            _ = machine.end(probe, .success, at: now)
            let second = end(&machine, failures(12), from: now, every: interval)
            #expect(second == 10)
        }
    }

    @Test(
        "F24: as many failures in a row as the limits say open the circuit",
        arguments: [(nil, 20, 10), (nil, 4, 4), (7, 20, 7), (0, 20, 1)] as [(Int?, Int, Int)]
    )
    func limit(failuresInARow: Int?, minimumThroughput: Int, expected: Int) {
        let limits = CircuitLimits(minimumThroughput: minimumThroughput, failuresInARow: failuresInARow)
        #expect(limits.failuresInARow == expected)
    }
}
