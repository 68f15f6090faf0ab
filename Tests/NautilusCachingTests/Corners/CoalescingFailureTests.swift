import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("RequestCoalescing: failures of one call alone", .endsInTime)
struct CoalescingFailureTests {
    @Test("a leader that gives up since its own deadline is near", arguments: [0, 1, 2])
    func nearDeadline(kind: Int) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let sent = Counter()
            let transport = ScriptedTransport(clock: clock) { _, _ in
                guard sent.increment() == 1 else { return .reply(text: "ok") }
                let reply: ScriptedReply =
                    switch kind {
                    case 0: .status(503)
                    case 1: .fail(.networkConnectionLost)
                    default: .status(503, header: ["Retry-After": "20"])
                    }
                return .delay(.milliseconds(700), then: reply)
            }
            let service = AnyHttpService(coalescingOn: transport, clock, retrierFactory: steadyBackoff())
            async let hasty = Ping(deadline: .seconds(1)).result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let patient = Ping.get.result(with: service)
            #expect(text(await patient) == "ok")
            _ = await hasty
        }
    }

    @Test("a call after a new sign-in of the same user, and one from before", arguments: [401, 503, 200])
    func signedInAnew(status: Int) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.header[.authorization] == "Bearer token-1"
                    ? .delay(.seconds(1), then: status == 200 ? .reply(text: "ok") : .status(status))
                    : .reply(text: "ok")
            }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { _ in nil },
                clock: clock,
                random: simulation.random
            ) { _ in throw CancellationError() }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [RequestCoalescing(accounts: .separate { _ in "anna" })],
                retrierFactory: .composed(
                    coordinator.authorization { $1.header[.authorization] = "Bearer \($0.accessToken)" },
                    steadyBackoff()
                ),
                transport: transport,
                clock: clock
            )
            async let old = Ping.get.result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            coordinator.signIn(Token(number: 2))
            async let new = Ping.get.result(with: service)
            #expect(text(await new) == "ok")
            _ = await old
        }
    }

    @Test("a new sign-in of the same user before each job", arguments: [401, 200])
    func beforeEachJob(status: Int) async throws {
        try await TestSupport.beforeEachJob { simulation, arm -> String? in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.header[.authorization] == "Bearer token-1"
                    ? .delay(.milliseconds(20), then: status == 200 ? .reply(text: "ok") : .status(status))
                    : .delay(.milliseconds(20), then: .reply(text: "ok"))
            }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { _ in nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                try await clock.sleep(for: .milliseconds(50))
                return Token(number: 3)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    HttpCache(accounts: .separate { _ in "anna" }),
                    RequestCoalescing(accounts: .separate { _ in "anna" }),
                ],
                retrierFactory: .composed(
                    coordinator.authorization { $1.header[.authorization] = "Bearer \($0.accessToken)" },
                    steadyBackoff()
                ),
                transport: transport,
                clock: clock
            )
            let new = Locked<String?>(nil)
            arm {
                coordinator.signOut()
                coordinator.signIn(Token(number: 2))
                let call = Ping.get.bound(to: service)
                simulation.start {
                    let result = try? await call.run().body
                    new.withLock { $0 = result ?? "failed" }
                }
            }
            async let one = Ping.get.result(with: service)
            async let two = Ping.get.result(with: service)
            _ = await (one, two)
            try await clock.sleep(for: .seconds(5))
            return new.withLock { $0 }
        } check: { outcome, step in
            #expect(outcome == nil || outcome == "ok", "step \(String(describing: step))")
        }
    }

    @Test("a crowd that is told to come back after its deadlines has asked once; with patient calls in it, a few times")
    func crowd() async throws {
        for patient in [0, 50] {
            try await simulate { simulation in
                let clock = simulation.clock
                let transport = ScriptedTransport(clock: clock) { _, _ in
                    .delay(
                        .milliseconds(10),
                        then: clock.now.offset < .seconds(15)
                            ? .status(503, header: ["Retry-After": "20"]) : .reply(text: "ok")
                    )
                }
                let service = AnyHttpService(coalescingOn: transport, clock, retrierFactory: steadyBackoff())
                let results = await atOnce(100) { index in
                    try? await clock.sleep(for: .microseconds(index * 10))
                    return await Ping(deadline: index < 100 - patient ? .seconds(10) : nil).result(with: service)
                }
                #expect(results.okCount == patient)
                #expect(transport.count == (patient == 0 ? 1 : 3))
            }
        }
    }
}
