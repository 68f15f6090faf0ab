import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("The revocation of an ended session's tokens")
struct SessionRevocationTests {
    @Test("a revocation that does not reach the server is told, and tried again until it does")
    func offline() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let isOffline = Locked(true)
            let revoked = Locked<[String]>([])
            world.server.transport.on(.post, "/revoke") { request, _ in
                guard !isOffline.withLock({ $0 }) else { return .fail(.notConnectedToInternet, delivery: .notSent) }
                guard case .data(let form) = request.body else { return .status(400) }
                revoked.withLock { $0.append(String(decoding: form.prefix(14), as: UTF8.self)) }
                return .status(200)
            }
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(error?.kind == .notRevoked)
            #expect((error?.underlying as? OAuthError)?.kind == .unavailable)
            try await world.sleep(.seconds(600))
            isOffline.withLock { $0 = false }
            try await world.sleep(.seconds(60))
            #expect(revoked.withLock { $0 } == ["token=anna-r1&", "token=anna-a1&"])
        }
    }

    @Test("the tokens of a user who is replaced are revoked where that is asked for", arguments: [true, false])
    func replaced(isAskedFor: Bool) async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            let bert = world.server.signIn("bert", at: world.date)
            try await second.signIn(bert, revokingReplaced: isAskedFor)
            try await world.sleep(.seconds(1))
            #expect(world.server.revoked == (isAskedFor ? ["anna-r1", "anna-a1"] : []))
            try await first.restore()
            #expect(await world.call(first).isOk)
        }
    }

    @Test("the credential that a refresh brings after the sign-out is revoked as well")
    func refreshedLate() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3_600))
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(session)
            // The note takes a second, the token request a tenth: the fresh credential is being saved.
            try await world.sleep(.milliseconds(1_500))
            try await session.signOut()
            _ = await call
            try await world.sleep(.seconds(10))
            #expect(world.server.revoked.contains("anna-r2"))
            #expect(try await world.stored(session) == nil)
        }
    }

    @Test("a credential that another process's refresh gets after the sign-out is revoked by that process")
    func refreshedLateElsewhere() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3_600))
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(second)
            // The note takes a second, the token request a tenth: the fresh credential is being saved.
            try await world.sleep(.milliseconds(1_500))
            try await first.signOut()
            #expect(!(await call.isOk))
            // By then a sign-in that had ended the session, and not a sign-out, would have been stored.
            try await world.sleep(.seconds(40))
            #expect(world.server.revoked == ["anna-r1", "anna-a1", "anna-r2", "anna-a2"])
        }
    }

    @Test(
        "of two users replaced at once, only the latter's tokens are revoked, as its sign-in asked",
        arguments: [true, false]
    )
    func replacedBeforeSaved(isEnded: Bool) async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            if !isEnded { world.store.failEnds(with: .full(place: "store")) }
            let lock = try await world.store.lock(session.key)
            let (bert, carl) = (
                world.server.signIn("bert", at: world.date), world.server.signIn("carl", at: world.date)
            )
            async let first: Void? = try? session.signIn(bert)
            try await world.sleep(.milliseconds(1))
            async let second: Void? = try? session.signIn(carl, revokingReplaced: true)
            try await world.sleep(.seconds(1))
            lock?.unlock()
            _ = await (first, second)
            try await world.sleep(.seconds(1))
            #expect(world.server.revoked == ["bert-r1", "bert-a1"])
        }
    }
}
