import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("RequestCoalescing: calls with different deadlines", .endsInTime)
struct SharedFailureTests {
    /// A hasty call and a patient one, one after the other, while the first refresh fails for now.
    private static func patient(isShared: Bool, isRejected: Bool) async throws -> CallResult {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                .delay(
                    .milliseconds(10),
                    then: request.header[.authorization] == "Bearer token-1" && isRejected
                        ? .status(401) : .reply(text: "ok")
                )
            }
            let refreshes = Counter()
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { $0.number == 1 && !isRejected ? .milliseconds(1) : nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                try await clock.sleep(for: .milliseconds(50))
                if refreshes.increment() == 1 { throw HttpError(.status(503), stage: .validate) }
                return Token(number: 2)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: isShared ? [RequestCoalescing(accounts: .separate { _ in "anna" })] : [],
                retrierFactory: .composed(
                    AuthorizationRetrier.factory(coordinator),
                    steadyBackoff(gate: coordinator)
                ),
                transport: transport,
                clock: clock
            )
            try await clock.sleep(for: .milliseconds(5))
            async let hasty = Ping(deadline: .milliseconds(200)).result(with: service)
            try await clock.sleep(for: .milliseconds(5))
            let patient = await Ping.get.result(with: service)
            _ = await hasty
            return patient
        }
    }

    @Test(
        "a call waits for the next refresh, even if it shares with a call that has no time for it",
        arguments: [false, true],
        [false, true]
    )
    func refresh(isShared: Bool, isRejected: Bool) async throws {
        let result = try await Self.patient(isShared: isShared, isRejected: isRejected)
        #expect(text(result) == "ok")
    }

    @Test("a service that makes one attempt does not share with a service that makes four", arguments: [false, true])
    func maxAttempts(isShared: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let sent = Counter()
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.milliseconds(100), then: sent.increment() <= 2 ? .status(503) : .reply(text: "ok"))
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: isShared ? [RequestCoalescing()] : [],
                retrierFactory: steadyBackoff(),
                transport: transport,
                clock: clock
            )
            let once = service.with { $0.maxAttempts = 1 }
            async let first = Ping.get.result(with: once)
            try await clock.sleep(for: .milliseconds(10))
            let second = await Ping.get.result(with: service)
            _ = await first
            #expect(text(second) == "ok")
        }
    }
}
