import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Caches: accounts that change before their session", .endsInTime)
struct AccountOrderTests {
    enum Keeper: CaseIterable, Sendable { case cache, coalescing }

    @Test(
        "the answer to a call during which somebody signs in is neither stored nor shared",
        arguments: Keeper.allCases
    )
    func nameFirst(keeper: Keeper) async throws {
        let answers = try await simulate { simulation in
            let clock = simulation.clock
            let user = Locked("anna")
            let accounts = CacheAccounts.separate { _ in user.withLock { $0 } }
            let transport = ScriptedTransport(clock: clock) { request, _ in
                .delay(
                    .seconds(1),
                    then: .reply(
                        header: ["Cache-Control": "max-age=600"],
                        text: request.header[.authorization] ?? "nobody"
                    )
                )
            }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 10),
                clock: clock,
                random: simulation.random
            ) { $0 }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: keeper == .cache
                    ? [HttpCache(accounts: accounts, wallClock: { clock.date })]
                    : [RequestCoalescing(accounts: accounts)],
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: clock
            )
            // The app changes who is signed in …
            user.withLock { $0 = "bert" }
            async let annas = GetMail().result(with: service)
            try await clock.sleep(for: .milliseconds(500))
            // … and the credential when the server has answered the login.
            coordinator.signIn(Token(number: 20))
            if keeper == .coalescing {
                async let berts = GetMail().result(with: service)
                return [text(await annas), text(await berts)]
            }
            return [text(await annas), text(await GetMail().result(with: service))]
        }
        #expect(answers == ["Bearer token-10", "Bearer token-20"])
    }

    private struct GetMail: Request, Hashable {
        typealias Result = String
        var route: HttpRoute { ["mail"] }
    }
}
