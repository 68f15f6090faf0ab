import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus

@Suite("A retry of a call that is online again")
struct OnlineAgainTests {
    @Test(
        "a call that is online again waits for a gate that opens later, and for no other",
        arguments: [(20, 15, RetryReason.gate(.seconds(15))), (5.5, 1, .online(after: .seconds(30)))]
    )
    func gateOpensLater(pause: Double, delay: Double, reason: RetryReason) async throws {
        try await simulate { simulation in
            let (clock, connectivity) = (simulation.clock, ConnectivitySwitch(isOnline: false))
            let gate = OriginPauses(clock: clock, random: FixedRandomSource(0))
            OfflineRetryTests.change(connectivity, at: [.seconds(30)], in: simulation)
            simulation.start {
                try? await clock.sleep(for: .seconds(25))
                if let origin = try? testOrigin() { gate.close(origin, for: .seconds(pause)) }
            }
            let trace = await Self.trace(of: .get, connectivity, clock) { $0.gate = gate }
            #expect(trace?.attempts.first?.decision?.action == .retry(after: .seconds(delay)))
            #expect(trace?.attempts.first?.decision?.reason == reason)
        }
    }

    @Test("a call that is online again gives up when no usual answer comes before its deadline")
    func cannotFinish() async throws {
        try await simulate { simulation in
            let (clock, connectivity) = (simulation.clock, ConnectivitySwitch(isOnline: false))
            let latencies = OriginLatencies(minimumCount: 1, clock: clock)
            latencies.record(.seconds(5), of: try testOrigin())
            OfflineRetryTests.change(connectivity, at: [.seconds(30)], in: simulation)
            let trace = await Self.trace(of: Ping(deadline: .seconds(33)), connectivity, clock) {
                $0.latencies = latencies
            }
            #expect(
                trace?.attempts.last?.decision?.reason == .cannotFinish(remaining: .seconds(2), usual: .seconds(5))
            )
        }
    }

    /// The trace of a call from a device that is offline at first; online, it is answered.
    private static func trace(
        of request: Ping,
        _ connectivity: ConnectivitySwitch,
        _ clock: ManualClock,
        _ change: (inout BackoffRetrier.Configuration) -> Void
    ) async -> CallTrace? {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.offline = OfflinePause(connectivity: connectivity, clock: clock)
                    $0.random = FixedRandomSource(0.5)
                    change(&$0)
                }
            ),
            transport: ScriptedTransport(clock: clock) { _, _ in
                connectivity.isOnline ? .reply(text: "ok") : .fail(.notConnectedToInternet, delivery: .notSent)
            },
            clock: clock
        )
        do throws(HttpError) {
            return try await request.response(with: service).trace
        } catch {
            return error.trace
        }
    }
}
