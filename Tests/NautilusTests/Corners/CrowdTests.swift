import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A crowd that waits for one refresh", .endsInTime)
struct CrowdTests {
    private struct Run: Sendable {
        let okCount: Int
        let refreshCount: Int
        let maxInFlight: Int
        let starts: [Duration]
    }

    /// A hundred calls at once, behind a limit of four at a time and ten in a second.
    private static func run(seed: UInt64) async throws -> Run {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let world = TokenWorld(simulation)
            let pacing = Pacing(rate: .requests(10, per: .seconds(1)), clock: clock, random: simulation.random)
            let service = world.service.with { [limit = ConcurrencyLimit(4)] in $0.interceptors = [limit, pacing] }
            let results = await atOnce(100) { _ in await Ping.get.result(with: service) }
            return Run(
                okCount: results.okCount,
                refreshCount: world.server.refreshCount,
                maxInFlight: world.transport.maxInFlightCount,
                starts: world.transport.attempts.map(\.start)
            )
        }
    }

    @Test(
        "a crowd behind a refresh goes out at the rate and within the limit, and refreshes once",
        arguments: 0..<5 as Range<UInt64>
    )
    func rejected(seed: UInt64) async throws {
        let run = try await Self.run(seed: seed)
        #expect(run.okCount == 100)
        #expect(run.refreshCount == 1)
        #expect(run.maxInFlight <= 4)
        #expect(run.starts.exceeds(10, within: .seconds(1)) == nil)
    }

    @Test("a circuit that is half open lets one probe through, whatever before each job of it the credential does")
    func oneProbe() async throws {
        try await beforeEachJob(of: { simulation, arm in
            let clock = simulation.clock
            let world = TokenWorld(simulation, accepting: [1]) { request, isAccepted in
                clock.now.offset < .seconds(1)
                    ? .status(503) : .delay(.milliseconds(100), then: isAccepted ? .reply(text: "ok") : .status(401))
            }
            let breaker = CircuitBreaker(
                limits: CircuitLimits(minimumThroughput: 2, pause: .constant(.seconds(5), jitter: .none)),
                clock: clock,
                random: simulation.random
            )
            let service = world.service.with { $0.interceptors = [breaker] }
            for _ in 1...2 { _ = await Ping.get.result(with: service) }
            try await clock.sleep(for: .seconds(6))
            let before = world.transport.count
            arm { world.coordinator.signIn(Token(number: 1)) }
            let results = await atOnce(20) { _ in await Ping.get.result(with: service) }
            return (sent: world.transport.count - before, okCount: results.okCount)
        }) { run, step in
            #expect(run.sent <= 1 && run.okCount <= 1, "step \(step.map(String.init) ?? "none")")
        }
    }
}

extension [Duration] {
    /// The first moment from which more than `count` of these lie within `period`; nil when there is none.
    fileprivate func exceeds(_ count: Int, within period: Duration) -> Duration? {
        let times = sorted()
        return zip(times, times.dropFirst(count)).first { $1 - $0 < period }?.0
    }
}
