import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("HttpCache: stale answers and retries", .endsInTime)
struct StaleRetryTests {
    @Test("a rejected credential is replaced, although a stale answer may stand in for an error")
    func rejectedCredential() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let server = TokenServer(accepting: [1], clock: clock)
            let transport = ScriptedTransport(clock: clock) { request, _ in
                server.accepts(request)
                    ? .reply(header: ["Cache-Control": "max-age=1, stale-if-error=600", "ETag": "\"1\""], text: "ok")
                    : .status(401)
            }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { _ in nil },
                clock: clock,
                random: simulation.random
            ) { _ in try await server.issue() }
            let cache = HttpCache(accounts: .separate { _ in "anna" }, wallClock: { clock.date })
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [cache],
                retrierFactory: coordinator.authorization { $1.header[.authorization] = "Bearer \($0.accessToken)" },
                transport: transport,
                clock: clock
            )
            #expect(text(await Ping.get.result(with: service)) == "ok")
            // The server forgets the token.
            _ = try await server.issue()
            try await clock.sleep(for: .seconds(5))
            #expect(text(await Ping.get.result(with: service)) == "ok")
            #expect(server.refreshCount == 2)
        }
    }

    @Test("a status that a stale answer does not stand in for is retried", arguments: [408, 425, 429])
    func notStoodInFor(status: Int) async throws {
        try await simulate { simulation in
            let sent = Counter()
            let world = CacheWorld(clock: simulation.clock, retrier: steadyBackoff()) { _, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=1, stale-if-error=600", "ETag": "\"1\""]
                return sent.increment() == 2
                    ? .status(status, header: ["Retry-After": "1"]) : .reply(header: header, text: "v\(sent.value)")
            }
            #expect(await world.get() == "200 v1")
            world.advance(5)
            let got = await world.get()
            #expect(got == "200 v3" || got.hasPrefix("200 v1"), "\(got)")
        }
    }

    @Test("a stale answer that becomes too old while the server is asked leaves the call its retries")
    func tooOldMeanwhile() async throws {
        try await simulate { simulation in
            let sent = Counter()
            let clock = simulation.clock
            let world = CacheWorld(clock: clock, retrier: steadyBackoff()) { _, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=1, stale-if-error=10", "ETag": "\"1\""]
                return sent.increment() == 2
                    ? .delay(.seconds(8), then: .status(503)) : .reply(header: header, text: "v\(sent.value)")
            }
            #expect(await world.get() == "200 v1")
            try await clock.sleep(for: .seconds(5))
            let got = await world.get()
            #expect(got.hasPrefix("200"), "\(got)")
        }
    }
}
