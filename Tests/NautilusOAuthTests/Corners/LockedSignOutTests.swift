import Foundation
import Nautilus
import NautilusOAuth
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A sign-out while another process holds the lock")
struct LockedSignOutTests {
    /// How the sign-out is called.
    enum Way: CaseIterable, Sendable { case here, now, justStarted, unsavedSignIn }

    @Test(
        "F23: a sign-out while the lock is held succeeds once its end is noted and the tokens are revoked",
        arguments: Way.allCases
    )
    func atOnce(way: Way) async throws {
        try await SessionWorld.run { world in
            let (first, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            let lock = try #require(try await world.store.lock(first.key))
            let start = world.clock.now.offset
            switch way {
            case .here: try await first.signOut()
            case .now: try await first.signOutNow().finish()
            case .justStarted: try await world.process().signOut()
            case .unsavedSignIn:
                let bert = world.server.signIn("bert", at: world.date)
                async let signIn: Void? = try? first.signIn(bert, revokingReplaced: true)
                try await world.sleep(.milliseconds(1))
                try await first.signOut()
                _ = await signIn
            }
            #expect(world.clock.now.offset - start < .seconds(1))
            #expect(world.server.revoked.contains("anna-r1"))
            #expect(await world.call(other).isSignedOut)
            #expect(await world.call(world.process()).isSignedOut)
            #expect(world.server.carried.isEmpty)
            lock.unlock()
            // The record is removed as soon as the lock is free.
            try await world.sleep(.seconds(60))
            #expect(try await world.store.version(of: first.key) == nil)
        }
    }

    @Test("F23: a sign-out whose end cannot be noted reports the held lock, since the user may come back")
    func notNoted() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failEnds(with: .full(place: "disk"))
            let lock = try #require(try await world.store.lock(session.key))
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(error?.kind == .lockTimeout(.seconds(30)))
            lock.unlock()
            try await world.sleep(.seconds(60))
            #expect(try await world.store.version(of: session.key) == nil)
        }
    }

    @Test("F23: a sign-out stays in force when the holder of the lock saves what it has refreshed")
    func holderSaves() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            world.server.setDelay(.seconds(5))
            try await world.sleep(.seconds(3_600))
            async let call = world.call(second)
            try await world.sleep(.seconds(1))
            let start = world.clock.now.offset
            try await first.signOut()
            #expect(world.clock.now.offset - start < .seconds(1))
            #expect(await call.isSignedOut)
            try await world.sleep(.seconds(120))
            #expect(await world.call(world.process()).isSignedOut)
            #expect(try await world.store.version(of: first.key) == nil)
        }
    }
}
