import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Requests that wait for a credential after the circuit breaker")
struct CircuitReadmissionTests {
    private struct Run: Sendable {
        /// How the calls ended, counted.
        let outcomes: [String: Int]
        /// When requests went out, and where to.
        let sent: [String]
    }

    /// Twenty calls are let through at once and wait for their credential until the fifth second. Meanwhile the circuit
    /// opens.
    ///
    /// - Parameters:
    ///   - pause: How long the circuit stays open.
    ///   - probe: When the probe is sent, which is answered after four seconds; nil for none.
    private func run(pause: Duration, probe: Duration? = nil, retries: Bool = false) async throws -> Run {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                if request.url.path == "/probe" { return .delay(.seconds(4), then: .status(200)) }
                return clock.now.offset < .seconds(1) ? .status(503) : .status(200)
            }
            let breaker = CircuitBreaker(
                limits: CircuitLimits(minimumThroughput: 2, pause: .constant(pause, jitter: .none)),
                clock: clock,
                random: simulation.random
            )
            let (service, late) = servicesWithLateCredential(behind: breaker, over: transport, on: clock)
            let outcomes = Locked<[String: Int]>([:])
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...20 {
                    group.addTask {
                        let kind = await failureOfOneCall(of: retries ? late.withBackoff : late)
                        outcomes.withLock { $0[kind.map { "\($0)" } ?? "success", default: 0] += 1 }
                    }
                }
                for _ in 1...2 { _ = await failureOfOneCall(of: service) }
                if let probe {
                    try? await clock.sleep(for: probe)
                    try? await AnyRequest(.get, ["probe"]).schedule(with: service)
                }
            }
            return Run(
                outcomes: outcomes.withLock { $0 },
                sent: transport.attempts.map { "\($0.start.components.seconds) \($0.request.url.path)" }
            )
        }
    }

    @Test("a request that waited for its credential is refused if the circuit has opened meanwhile")
    func opened() async throws {
        let run = try await run(pause: .seconds(60))
        #expect(run.outcomes == ["not sent: the circuit is open, the next probe may go in 55 s": 20])
        #expect(run.sent == ["0 /a", "0 /a"])
    }

    @Test("a request that waited for its credential is refused while the circuit's probe is under way")
    func probing() async throws {
        let run = try await run(pause: .seconds(3), probe: .milliseconds(3_500))
        #expect(run.outcomes == ["not sent: the circuit is open, and its probe under way": 20])
        #expect(run.sent == ["0 /a", "0 /a", "3 /probe"])
    }

    @Test("one request that waited for its credential is the probe after the pause; others are refused")
    func pauseOver() async throws {
        let run = try await run(pause: .seconds(2))
        #expect(run.outcomes == ["not sent: the circuit is open, and its probe under way": 19, "success": 1])
        #expect(run.sent == ["0 /a", "0 /a", "5 /a"])
    }

    @Test("requests that waited for their credential are tried again: the probe, then the others")
    func retried() async throws {
        let run = try await run(pause: .seconds(2), retries: true)
        #expect(run.outcomes == ["success": 20])
        #expect(run.sent.count == 22)
    }
}

extension AnyHttpService<HttpError> {
    /// The same, whose failed calls are repeated as well.
    fileprivate var withBackoff: Self {
        with { $0.retrierFactory = .composed(BackoffRetrier.factory(), $0.retrierFactory) }
    }
}
