import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Sign-outs over stores of any kind")
struct SignOutTests {
    /// The trouble with the store when the user signs out.
    enum Trouble: CaseIterable {
        case none, hanging, unreadable, lockedElsewhere, damaged

        /// - Returns: The lock that another process holds; nil when none does.
        func begin(_ world: SessionWorld, _ session: OAuthSession) async throws -> (any CredentialLock)? {
            switch self {
            case .none: return nil
            case .hanging:
                world.store.slowLoads(to: .seconds(1_000))
                world.store.slowSaves(to: .seconds(1_000))
                return nil
            case .unreadable:
                world.store.failLoads(with: .notPermitted(place: "file"))
                return nil
            case .lockedElsewhere: return try await world.store.lock(session.key)
            case .damaged:
                world.store.failLoads(with: .damaged(place: "file"))
                return nil
            }
        }
    }

    static func heal(_ store: UnreliableStore) {
        store.slowLoads(to: .zero)
        store.slowSaves(to: .zero)
        store.failLoads(with: nil)
    }

    @Test(
        "a sign-out counts in its process before any wait, and in the next one as well",
        arguments: Trouble.allCases
    )
    func everywhere(trouble: Trouble) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try await trouble.begin(world, session)
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(1))
            #expect(!session.isSignedIn)
            #expect(session.header.isEmpty)
            #expect(await world.call(session).isSignedOut)

            Self.heal(world.store)
            let next = world.process()
            #expect(await world.call(next).isSignedOut)
            #expect(!next.isSignedIn)
            #expect(world.server.carried.isEmpty)
            lock?.unlock()
            _ = await signOut
            try await world.sleep(.seconds(2_000))
            #expect(try await world.store.version(of: session.key) == nil, "the record is removed in the end")
            #expect(await world.call(session).isSignedOut)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
        }
    }

    @Test("a damaged record is removed by the sign-out itself, and nobody has to mend it before")
    func damaged() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failLoads(with: .damaged(place: "file"))
            try await session.signOut()
            #expect(try await world.store.version(of: session.key) == nil)
        }
    }

    @Test(
        "a process that has just started signs out whoever is stored, and nobody comes back",
        arguments: Trouble.allCases
    )
    func justStarted(trouble: Trouble) async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let lock = try await trouble.begin(world, try await world.signedIn())
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(1))
            #expect(!session.isSignedIn)
            #expect(await world.call(session).isSignedOut)
            Self.heal(world.store)
            lock?.unlock()
            _ = await signOut
            try await world.sleep(.seconds(2_000))
            #expect(await world.call(session).isSignedOut)
            #expect(await world.call(world.process()).isSignedOut)
            #expect(try await world.store.version(of: session.key) == nil)
            #expect(world.server.carried.isEmpty)
        }
    }

    @Test(
        "a user who signs in while the sign-out of another waits for the store stays signed in",
        arguments: Trouble.allCases
    )
    func signInMeanwhile(trouble: Trouble) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try await trouble.begin(world, session)
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(1))
            let credential = world.server.signIn("bert", at: world.date)
            async let signIn: Void? = try? session.signIn(credential)
            try await world.sleep(.milliseconds(1))
            #expect(session.header[.authorization] == "Bearer bert-a1")
            Self.heal(world.store)
            lock?.unlock()
            _ = await (signOut, signIn)
            try await world.sleep(.seconds(2_000))
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(try await world.stored(session)?.credential == credential)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
        }
    }

    @Test("a sign-out wins over a refresh of another process, which saves its credential afterwards")
    func savedLater() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3_600))
            // The refresh holds the lock for a second and more.
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(second)
            try await world.sleep(.milliseconds(1_500))
            async let signOut: Void = first.signOut()
            #expect(!(await call.isOk))
            try await signOut
            #expect(try await world.stored(first) == nil)
            #expect(await world.call(world.process()).isSignedOut)
            #expect(world.server.carried.isEmpty)
        }
    }

    /// How a process has learnt of the user who is stored, before another one signs in.
    enum Look: CaseIterable { case before, atSignIn, underWay }

    @Test("a sign-out before the sign-in could be saved does not bring back the user before", arguments: Look.allCases)
    func unsavedSignIn(look: Look) async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            if look == .before { try await session.restore() }
            let lock = try await world.store.lock(session.key)
            if look == .underWay { world.store.slowLoads(to: .seconds(1)) }
            let credential = world.server.signIn("bert", at: world.date)
            async let signIn: Void? = try? session.signIn(credential)
            try await world.sleep(.milliseconds(1))
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.seconds(5))
            #expect(await world.call(world.process()).isSignedOut)
            lock?.unlock()
            _ = await (signIn, signOut)
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).isSignedOut)
            #expect(await world.call(world.process()).isSignedOut)
            #expect(try await world.store.version(of: session.key) == nil)
            #expect(world.server.revoked == ["bert-r1", "bert-a1"])
            #expect(world.server.carried.isEmpty)
        }
    }

    @Test(
        "a sign-out in another process reaches one that could not save what its refresh brought",
        arguments: [0, 1_800]
    )
    func elsewhereWhileUnsaved(later seconds: Int64) async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3_600))
            world.store.failSaves(with: .full(place: "disk"))
            #expect(await world.call(first).isOk)
            world.store.failSaves(with: nil)
            let id = try #require(first.id)
            // The other process ends before it has the lock, which is kept here.
            _ = try await world.store.end(id, for: first.key)
            try await world.sleep(.seconds(seconds))
            #expect(await world.call(first).isSignedOut)
            #expect(await world.call(second).isSignedOut)
            #expect(world.server.carried == ["anna-a2"])
            try await second.signIn(world.server.signIn("bert", at: world.date))
            try await first.restore()
            #expect(await world.call(first).isOk)
            #expect(world.server.carried == ["anna-a2", "bert-a1"])
        }
    }

    @Test("a sign-out in another process during a refresh that the server puts off is noticed by the next call")
    func elsewhereDuringFailure() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let (store, id) = (world.store, try #require(session.id))
            world.server.transport.on(.post, "/token") { _, _ in
                _ = try await store.end(id, for: session.key)
                return .status(503)
            }
            // Within the leeway: the refresh goes on in the background, and the token still serves.
            try await world.sleep(.seconds(3_590))
            #expect(await world.call(session).isOk)
            try await world.sleep(.seconds(1))
            #expect(await world.call(session).isSignedOut)
        }
    }

    @Test("a sign-out before the sign-in could be saved brings nobody back whom the store could not end")
    func unsavedSignInWithoutEnd() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.failEnds(with: .full(place: "store"))
            let lock = try await world.store.lock(session.key)
            async let signIn: Void? = try? session.signIn(world.server.signIn("bert", at: world.date))
            try await world.sleep(.seconds(1))
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.seconds(1))
            lock?.unlock()
            _ = await (signIn, signOut)
            try await world.sleep(.seconds(60))
            #expect(await world.call(world.process()).isSignedOut)
            #expect(try await world.store.version(of: session.key) == nil)
        }
    }

    @Test("a store that hangs keeps the server from being told no longer than a lock would")
    func hangingEnd() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.slowEnds(to: .seconds(10_000))
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(29_999))
            #expect(world.server.revoked.isEmpty)
            try await world.sleep(.seconds(1))
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
            #expect(await world.call(session).isSignedOut)
            _ = await signOut
        }
    }

    @Test("somebody who is not signed in can sign out, and nothing is asked of a server or saved")
    func nobody() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            world.store.failSaves(with: .full(place: "disk"))
            try await session.signOut()
            #expect(world.server.transport.count == 0)
            #expect(await world.call(session).isSignedOut)
        }
    }
}
