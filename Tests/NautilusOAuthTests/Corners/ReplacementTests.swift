import Nautilus
import NautilusOAuth
import TestSupport
import Testing

@Suite("A sign-in in the place of another user")
struct ReplacementTests {
    @Test(
        "a sign-in ends the replaced session in all processes at once, though the lock is held elsewhere",
        arguments: [true, false]
    )
    func atOnce(isKnown: Bool) async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            if isKnown { try await second.restore() }
            let lock = try await world.store.lock(second.key)
            let bert = world.server.signIn("bert", at: world.date)
            async let signIn: Void? = try? second.signIn(bert)
            try await world.sleep(.milliseconds(1))
            #expect(second.header[.authorization] == "Bearer bert-a1")
            #expect(await world.call(first).isSignedOut)
            // As if this process died before it had the lock.
            #expect(await world.call(world.process()).isSignedOut)
            #expect(world.server.carried.isEmpty)
            lock?.unlock()
            _ = await signIn
            try await first.restore()
            #expect(await world.calls([first, second, world.process()]).okCount == 3)
            #expect(world.server.carried == ["bert-a1", "bert-a1", "bert-a1"])
            #expect(try await world.stored(second)?.number == 2)
            #expect(world.server.revoked.isEmpty)
        }
    }

    @Test("a sign-in waits for a hanging store no longer than a look, and ends the session later")
    func hangingEnd() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.slowEnds(to: .seconds(10))
            let bert = world.server.signIn("bert", at: world.date)
            try await session.signIn(bert)
            #expect(try await world.stored(session)?.credential == bert)
            #expect(try await world.stored(session)?.number == 2)
        }
    }

    @Test("a sign-in does not end a later sign-in's session, which is stored before its own look")
    func overtaken() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.slowEnds(to: .seconds(1))
            let (bert, carl) = (
                world.server.signIn("bert", at: world.date), world.server.signIn("carl", at: world.date)
            )
            async let first: Void? = try? session.signIn(bert)
            try await world.sleep(.milliseconds(1))
            world.store.slowEnds(to: .zero)
            try await session.signIn(carl)
            _ = await first
            #expect(try await world.stored(session)?.credential == carl)
            #expect(await world.call(world.process()).isOk)
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["carl-a1", "carl-a1"])
        }
    }

    @Test("a sign-in does not revoke a fresh refresh of another process: it may be the same user")
    func refreshedLate() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await world.sleep(.seconds(3_600))
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(first)
            // The note takes a second, the token request a tenth: the fresh credential is being saved.
            try await world.sleep(.milliseconds(1_500))
            try await second.signIn(world.server.signIn("bert", at: world.date))
            // The end is noted before the next user is stored, so that this process sees a sign-out first.
            #expect(await call.isSignedOut)
            try await world.sleep(.seconds(60))
            #expect(world.server.revoked.isEmpty)
            try await first.restore()
            #expect(await world.call(first).isOk)
            #expect(world.server.carried == ["bert-a1"])
        }
    }
}
