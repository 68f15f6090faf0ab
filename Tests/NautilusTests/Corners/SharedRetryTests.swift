import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Calls that share an answer and retry", .endsInTime)
struct SharedRetryTests {
    private static func service(
        _ clock: ManualClock,
        _ transport: ScriptedTransport,
        _ coalescing: RequestCoalescing,
        _ retrier: any RetrierFactory
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [coalescing],
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        )
    }

    @Test("calls that share an answer wake together from a suspension, and make one retry", arguments: 0..<10)
    func suspended(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, context in
                .delay(
                    .milliseconds(50),
                    then: context.number == 1 ? .status(503, header: [.retryAfter: "2"]) : .reply(text: "ok")
                )
            }
            let retrier = BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.random = simulation.random
                }
            )
            let service = Self.service(clock, transport, RequestCoalescing(), retrier)
            let woken = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { (try? await Ping.get.schedule(with: service)) == "ok" } }
                try? await clock.sleep(for: .seconds(1))
                clock.suspend(for: .seconds(60))
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect((woken, transport.count) == (100, 2))
        }
    }

    @Test(
        "an impatient call does not wait as long as a patient one would, nor that as short",
        arguments: [(first: 60, second: 1), (first: 1, second: 60)]
    )
    func otherPolicy(first: Int, second: Int) async throws {
        try await simulate { simulation in
            let (clock, coalescing) = (simulation.clock, RequestCoalescing())
            let transport = ScriptedTransport(clock: clock) { _, context in
                .delay(.milliseconds(50), then: context.number == 1 ? .status(503) : .reply(text: "ok"))
            }
            func end(of seconds: Int) async throws -> Duration {
                let retrier = BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.seconds(seconds), jitter: .none)
                        $0.budget = .shared(budget)
                    }
                )
                let service = Self.service(clock, transport, coalescing, retrier)
                _ = try await Ping.get.schedule(with: service)
                return clock.now.offset
            }
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            async let one = end(of: first)
            try await clock.sleep(for: .milliseconds(1))
            async let other = end(of: second)
            let (oneEnd, otherEnd) = try await (one, other)
            #expect(oneEnd == .milliseconds(50 + first * 1_000 + 50))
            #expect(otherEnd == .milliseconds(1 + 50 + second * 1_000 + 50))
        }
    }

}
