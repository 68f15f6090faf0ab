import Nautilus
import NautilusOAuth
import TestSupport
import Testing

@Suite("A sign-out from a failing store")
struct SignOutMatrixTests {
    @Test("a process that starts meanwhile signs nobody in", arguments: SignOutTests.Trouble.allCases)
    func nextProcess(trouble: SignOutTests.Trouble) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try await trouble.begin(world, session)
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(1))
            let next = world.process()
            #expect(!(await world.call(next).isOk))
            #expect(!next.isSignedIn)
            #expect(!(await world.call(session).isOk))
            #expect(world.server.carried.isEmpty)
            lock?.unlock()
            _ = await signOut
        }
    }

    @Test("if a sign-out cannot write its note, the removed record tells of it", arguments: [true, false])
    func withoutNote(hangs: Bool) async throws {
        try await SessionWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            if hangs {
                world.store.slowEnds(to: .seconds(10_000))
            } else {
                world.store.failEnds(with: .full(place: "disk"))
            }
            async let signOut: Void? = try? session.signOut()
            try await world.sleep(.milliseconds(1))
            #expect(!session.isSignedIn)
            #expect(await world.call(session).isSignedOut)
            // A store that hangs is given up after as long as a lock is waited for.
            try await world.sleep(.seconds(30))
            #expect(await world.call(world.process()).isSignedOut)
            #expect(await world.call(other).isSignedOut)
            #expect(world.server.carried.isEmpty)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
            _ = await signOut
        }
    }
}
