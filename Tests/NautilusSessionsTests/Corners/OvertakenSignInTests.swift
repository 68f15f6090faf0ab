import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A login takes its time: what the user has done meanwhile is what the user wants.
@Suite("Sign-ins that are overtaken")
struct OvertakenSignInTests {
    /// Signs in by a login of this name; the slow one is answered after 20 s.
    private func signIn(_ login: String, to world: LoginWorld, revoking: Bool = false) async -> HttpError? {
        let delay = Duration.seconds(login == "slow" ? 20 : 2)
        let token = ScriptedReply.reply(text: #"{"access_token": "\#(login)"}"#)
        world.server.on(.post, "/login/\(login)", .delay(delay, then: token)).on(.post, "/logout", .status(200))
        do throws(HttpError) {
            let request = AnyRequest(.post, ["login", login], as: BearerToken.self)
            try await world.session.signIn(by: request, with: world.service, revokingReplaced: revoking)
            return nil
        } catch {
            return error
        }
    }

    private func kind(_ error: HttpError?) -> SessionError.Kind? { (error?.underlying as? SessionError)?.kind }

    @Test("a sign-in overtaken by a sign-out signs nobody in, and is revoked", arguments: [true, false])
    func signOut(isSignedIn: Bool) async throws {
        try await LoginWorld.run { world in
            if isSignedIn { try await world.session.signIn(BearerToken(accessToken: "before")) }
            async let slow = signIn("slow", to: world)
            try await world.sleep(.seconds(5))
            world.session.signOutNow()
            #expect(kind(await slow) == .superseded)
            #expect(world.user == nil)
            try await world.sleep(.seconds(1))
            #expect(world.revoked == (isSignedIn ? ["before", "slow"] : ["slow"]))
        }
    }

    @Test(
        "a sign-in overtaken by a later one fails, and its credential is not revoked unless asked",
        arguments: [true, false]
    )
    func laterOne(revokes: Bool) async throws {
        try await LoginWorld.run { world in
            async let slow = signIn("slow", to: world, revoking: revokes)
            try await world.sleep(.seconds(5))
            #expect(await signIn("quick", to: world) == nil)
            #expect(kind(await slow) == .superseded)
            #expect(world.user == "quick")
            try await world.sleep(.seconds(1))
            #expect(world.revoked == (revokes ? ["slow"] : []))
        }
    }

    @Test("a sign-in takes the place of one that began before it and was answered first")
    func earlierOne() async throws {
        try await LoginWorld.run { world in
            async let quick = signIn("quick", to: world)
            try await world.sleep(.seconds(1))
            async let slow = signIn("slow", to: world)
            #expect(await quick == nil)
            #expect(world.user == "quick")
            #expect(await slow == nil)
            #expect(world.user == "slow")
        }
    }

    @Test("a sign-in by some work counts from its beginning, and a sign-in at once wins over it")
    func work() async throws {
        try await LoginWorld.run { world in
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

    @Test("a cancelled sign-in signs nobody in, though its work brings a credential all the same")
    func cancelled() async throws {
        try await LoginWorld.run { world in
            world.server.on(.post, "/logout", .status(200))
            try await world.session.signIn(BearerToken(accessToken: "before"))
            let signIn = BackgroundTask.start {
                let error = await #expect(throws: SessionError.self) {
                    try await world.session.signIn {
                        await BackgroundTask.start { try? await world.clock.sleep(for: .seconds(20)) }.value
                        return BearerToken(accessToken: "late")
                    }
                }
                #expect(error?.kind == .cancelled)
            }
            try await world.sleep(.seconds(5))
            signIn.cancel()
            await signIn.value
            #expect(world.user == "before")
            try await world.sleep(.seconds(60))
            #expect(world.revoked == [])
        }
    }

    @Test(
        "a sign-in overtaken by one with the same or a related credential does not revoke it",
        arguments: [
            BearerToken(accessToken: "only"),
            BearerToken(accessToken: "only", expires: Date(timeIntervalSince1970: 4_000_000_000)),
            BearerToken(accessToken: "other", refreshToken: "shared"),
        ]
    )
    func sameCredential(second: BearerToken) async throws {
        try await LoginWorld.run { world in
            world.server.on(.post, "/logout", .status(200))
            let first = BearerToken(accessToken: "only", refreshToken: second.refreshToken)
            for token in [first, second] { try await world.session.signIn(token, revokingReplaced: true) }
            try await world.sleep(.seconds(60))
            #expect(world.user == second.accessToken)
            #expect(world.revoked == [])
        }
    }

    @Test("after a session that the server has ended is not overtaken by that")
    func expiry() async throws {
        try await LoginWorld.run { world in
            try await world.session.signIn(BearerToken(accessToken: "before", refreshToken: "r"))
            async let slow = signIn("slow", to: world)
            try await world.sleep(.seconds(5))
            world.server.on(.get, "/things", .status(401))
            world.server.on(.post, "/renew", .status(401))
            #expect(await world.error()?.requiresSignIn == true)
            #expect(await slow == nil)
            #expect(world.user == "slow")
        }
    }

    @Test("a sign-out with a service throws the service's error")
    func signOutWithService() async throws {
        try await LoginWorld.run { world in
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
