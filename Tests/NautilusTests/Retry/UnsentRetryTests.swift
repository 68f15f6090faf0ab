import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus

@Suite("A retry that is not sent is not paid for", .endsInTime)
struct UnsentRetryTests {
    /// The balance of a budget of ten after a call whose retry is held back.
    private static func balance(
        deadline: Duration? = nil,
        interceptors: @escaping @Sendable (ManualClock) -> [any HttpInterceptor],
        credential: (@Sendable (ManualClock) -> any CallCredential)? = nil,
        blocking: Bool = false
    ) async throws -> (balance: Double, sends: Int) {
        try await simulate { simulation in
            let clock = simulation.clock
            let budget = TokenBucketBudget()
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.method == .put ? .ok(after: 100_000) : .status(503)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: interceptors(clock),
                retrierFactory: ComposedRetrier.factory(
                    AnyRetrierFactory.authorizing(with: credential?(clock) ?? WrittenCredential { _ in }),
                    steadyBackoff(budget: .shared(budget))
                ),
                transport: transport,
                clock: clock
            )
            if blocking {
                simulation.start {
                    try? await clock.sleep(for: .milliseconds(100))
                    _ = await Ping(method: .put).result(with: service.with { $0.retrierFactory = NilRetrier.factory() })
                }
            }
            _ = await Ping(deadline: deadline).result(with: service)
            return (budget.balance, transport.attempts(at: .get, "/things").count)
        }
    }

    @Test("one that a breaker refuses")
    func refused() async throws {
        let run = try await Self.balance(interceptors: { clock in
            let limits = CircuitLimits(failuresInARow: 1, pause: .constant(.seconds(600), jitter: .none))
            return [CircuitBreaker(limits: limits, clock: clock)]
        })
        #expect(run.sends == 1 && run.balance == 10)
    }

    @Test("one whose deadline passes in a line")
    func inLine() async throws {
        let run = try await Self.balance(
            deadline: .seconds(5),
            interceptors: { _ in [ConcurrencyLimit(1)] },
            blocking: true
        )
        #expect(run.sends == 1 && run.balance == 10)
    }

    @Test("one whose deadline passes while it waits for its credential")
    func unauthorized() async throws {
        let count = Counter()
        let run = try await Self.balance(
            deadline: .seconds(5),
            interceptors: { _ in [] },
            credential: { clock in
                AwaitedCredential(wait: { if count.increment() > 1 { try await clock.sleep(for: .seconds(60)) } })
            }
        )
        #expect(run.sends == 1 && run.balance == 10)
    }

    @Test("one that is sent is paid for, once")
    func sent() async throws {
        let run = try await Self.balance(interceptors: { _ in [ConcurrencyLimit(1)] })
        #expect(run.sends == 4 && run.balance == 7)
    }
}
