import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusTraffic

@Suite("Failures that come slowly, and waits in queues")
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
                        return await Ping.get.result(with: service).error?.kind
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
        print("without", without.last, without.sends.count, "with", with.last, with.sends.count)
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

    private func end(
        _ machine: inout CircuitMachine,
        _ outcome: CircuitMachine.Outcome,
        at second: Int
    ) throws -> Bool {
        let permit = try #require(machine.immediatePermit())
        return machine.end(permit, outcome, at: .seconds(second)) != nil
    }

    @Test("F24: ten failures in a row open the circuit, an hour apart or not; a success or a probe begins anew")
    func inARow() throws {
        let failure = CircuitMachine.Outcome.failure(pause: .seconds(5))
        for interval in [0, 11, 3600] {
            var machine = CircuitMachine(limits: CircuitLimits())
            for index in 0..<9 { #expect(try !end(&machine, failure, at: index * interval)) }
            #expect(try !end(&machine, .nothing, at: 9 * interval))
            #expect(try !end(&machine, .success, at: 9 * interval))
            for index in 10..<19 { #expect(try !end(&machine, failure, at: index * interval)) }
            #expect(try end(&machine, failure, at: 19 * interval))
            // The probe closes it, and the row begins anew.
            let now = Duration.seconds(19 * interval + 5)
            guard case .go(let probe) = machine.ask(at: now).answer else { throw CancellationError() }
            #expect(machine.end(probe, .success, at: now) == .closed)
            for index in 20..<29 { #expect(try !end(&machine, failure, at: index * interval + 5)) }
            #expect(try end(&machine, failure, at: 29 * interval + 5))
        }
    }

    @Test(
        "F24: how many failures in a row open the circuit",
        arguments: [(nil, 20, 10), (nil, 4, 4), (7, 20, 7), (0, 20, 1)] as [(Int?, Int, Int)]
    )
    func limit(failuresInARow: Int?, minimumThroughput: Int, expected: Int) {
        let limits = CircuitLimits(minimumThroughput: minimumThroughput, failuresInARow: failuresInARow)
        #expect(limits.failuresInARow == expected)
    }
}
