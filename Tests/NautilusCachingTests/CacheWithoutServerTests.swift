import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache: calls without the server", .endsInTime)
struct CacheWithoutServerTests {
    @Test("an app that is offline gets the stored answer, even if its token has expired", arguments: [false, true])
    func offlineAndExpired(expires: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let isOffline = Locked(false)
            let transport = ScriptedTransport(clock: clock) { _, _ in
                isOffline.withLock { $0 }
                    ? .fail(.notConnectedToInternet) : .reply(header: ["Cache-Control": "max-age=60"], text: "ok")
            }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { _ in expires ? .seconds(600) : nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                _ = try await Ping.post.schedule(
                    with: AnyHttpService(apiUrl: "id.example.com", transport: transport, clock: clock)
                )
                return Token(number: 2)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    HttpCache(
                        accounts: .separate { _ in "anna" },
                        staleIfError: .seconds(3_600),
                        wallClock: { clock.date }
                    )
                ],
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: clock
            )
            #expect(text(await Ping.get.result(with: service)) == "ok")
            try await clock.sleep(for: .seconds(1_200))
            isOffline.withLock { $0 = true }
            #expect(text(await Ping(deadline: .seconds(20)).result(with: service)) == "ok")
        }
    }

    /// Three reasons for which a call does not use the cache.
    enum Reason: CaseIterable, Sendable { case unknownAccount, anonymousOnly, accountChanges }

    @Test(
        "a request that accepts only a stored answer is not sent, even if its call may not use the cache",
        arguments: Reason.allCases
    )
    func onlyIfCached(reason: Reason) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let user = Locked("anna")
            let transport = ScriptedTransport(clock: clock) { _, _ in .reply(text: "ok") }
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
            let accounts: CacheAccounts =
                switch reason {
                case .unknownAccount: .separate { _ in nil }
                case .anonymousOnly: .anonymousOnly
                case .accountChanges: .separate { _ in user.withLock { $0 } }
                }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [HttpCache(accounts: accounts, wallClock: { clock.date })],
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: clock
            )
            let call = Ping(header: ["Cache-Control": "only-if-cached, max-stale"]).bound(to: service)
            user.withLock { $0 = "bert" }
            var kind: FailureKind?
            do throws(HttpError) { _ = try await call.run() } catch { kind = error.kind }
            #expect(kind == .refused(.notStored))
            #expect(transport.count == 0)
        }
    }
}
