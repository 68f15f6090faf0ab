import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A login takes its time: what the user has done meanwhile is what the user wants.
@Suite("A sign-in that something has overtaken")
struct OvertakenSignInTests {
    private struct World: SimulatedWorld {
        let clock: ManualClock
        let server: ScriptedTransport
        let session: Session<BearerToken>
        let service: AnyHttpService<HttpError>

        init(_ simulation: Simulated) {
            clock = simulation.clock
            server = ScriptedTransport(clock: clock)
            server.on(.post, "/login/quick", .delay(.seconds(2), then: .reply(text: #"{"access_token": "quick"}"#)))
            server.on(.post, "/login/slow", .delay(.seconds(20), then: .reply(text: #"{"access_token": "slow"}"#)))
            server.on(.post, "/logout", .status(200))
            let guests = AnyHttpService<HttpError>(apiUrl: "api.test", transport: server, clock: clock)
            let rules = SessionRules.bearer(
                revoke: { token in
                    let forget = AnyRequest(.post, ["logout"], body: .json(["token": token.accessToken]), as: Data.self)
                    _ = try await forget.schedule(with: guests)
                },
                renew: { _ in throw TerminalRefreshFailure("never renewed") }
            )
            let key = CredentialKey(issuer: "api.test")
            session = Session(key: key, rules: rules, store: MemoryStore(), clock: clock)
            let retriers = session.retrierFactory(.atOnce)
            service = AnyHttpService(apiUrl: "api.test", retrierFactory: retriers, transport: server, clock: clock)
        }

        /// Signs in by a login of this name.
        func signIn(_ login: String, revokingReplaced: Bool = false) async -> HttpError? {
            do throws(HttpError) {
                let request = AnyRequest(.post, ["login", login], as: BearerToken.self)
                try await session.signIn(by: request, with: service, revokingReplaced: revokingReplaced)
                return nil
            } catch {
                return error
            }
        }

        var user: String? { session.current?.credential.accessToken }

        /// The tokens that the server was asked to forget.
        var revoked: [String] {
            server.attempts.filter { $0.request.url.path == "/logout" }
                .compactMap { try? JSONDecoder().decode([String: String].self, from: $0.body ?? Data())["token"] }
        }
    }

    private func kind(_ error: HttpError?) -> SessionError.Kind? { (error?.underlying as? SessionError)?.kind }

    @Test("by a sign-out signs nobody in, and the server is asked to forget its credential", arguments: [true, false])
    func signOut(isSignedIn: Bool) async throws {
        try await World.run { world in
            if isSignedIn { try await world.session.signIn(BearerToken(accessToken: "before")) }
            async let slow = world.signIn("slow")
            try await world.sleep(.seconds(5))
            world.session.signOutNow()
            #expect(kind(await slow) == .superseded)
            #expect(world.user == nil)
            try await world.sleep(.seconds(1))
            #expect(world.revoked == (isSignedIn ? ["before", "slow"] : ["slow"]))
        }
    }

    @Test(
        "by one that began later comes too late, and its credential is left alone unless asked",
        arguments: [true, false]
    )
    func laterOne(revokes: Bool) async throws {
        try await World.run { world in
            async let slow = world.signIn("slow", revokingReplaced: revokes)
            try await world.sleep(.seconds(5))
            #expect(await world.signIn("quick") == nil)
            #expect(kind(await slow) == .superseded)
            #expect(world.user == "quick")
            try await world.sleep(.seconds(1))
            #expect(world.revoked == (revokes ? ["slow"] : []))
        }
    }

    @Test("takes the place of one that began before it and was answered first")
    func earlierOne() async throws {
        try await World.run { world in
            async let quick = world.signIn("quick")
            try await world.sleep(.seconds(1))
            async let slow = world.signIn("slow")
            #expect(await quick == nil)
            #expect(world.user == "quick")
            #expect(await slow == nil)
            #expect(world.user == "slow")
        }
    }

    @Test("counts from its beginning whatever work brings the credential, and a sign-in at once wins over it")
    func work() async throws {
        try await World.run { world in
            let slow = BackgroundTask.start {
                await #expect(throws: SessionError.self) {
                    try await world.session.signIn {
                        try await world.clock.sleep(for: .seconds(20))
                        return BearerToken(accessToken: "slow")
                    }
                }
            }
            try await world.sleep(.seconds(5))
            try await world.session.signIn(BearerToken(accessToken: "now"))
            await slow.value
            #expect(world.user == "now")
            try await world.session.signIn { BearerToken(accessToken: "next") }
            #expect(world.user == "next")
        }
    }

    @Test("after a session that the server has ended is not overtaken by that")
    func expiry() async throws {
        try await World.run { world in
            try await world.session.signIn(BearerToken(accessToken: "before", refreshToken: "r"))
            async let slow = world.signIn("slow")
            try await world.sleep(.seconds(5))
            world.server.on(.get, "/things", .status(401))
            let things = AnyRequest(.get, ["things"], as: String.self)
            #expect(await things.result(with: world.service).error?.requiresSignIn == true)
            #expect(await slow == nil)
            #expect(world.user == "slow")
        }
    }

    @Test("a sign-out with a service throws the service's error")
    func signOutWithService() async throws {
        try await World.run { world in
            struct ShopError: Error { let failure: HttpError }
            world.server.on(.post, "/logout", .status(400))
            try await world.session.signIn(BearerToken(accessToken: "before"))
            let shop = world.service.mappingErrors { ShopError(failure: $0) }
            let error = await #expect(throws: ShopError.self) { try await world.session.signOut(with: shop) }
            #expect(kind(error?.failure) == .notRevoked)
            #expect(world.user == nil)
        }
    }
}
