import Foundation
import Nautilus
import NautilusOAuth
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Credentials that arrive after the end of their session")
struct LateRevocationTests {
    /// A store whose saves can fail, and whose ends do not.
    private final class FullStore: StoreInFront {
        let base: MemoryStore
        let isFull = Locked(false)

        init(_ base: MemoryStore) { self.base = base }

        func pass(_ operation: StoreOperation) async throws {
            if operation == .save, isFull.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
        }
    }

    private static func live(_ world: SessionWorld) -> LiveTokens {
        LiveTokens(
            ["anna-r1"],
            at: world.server.transport,
            clock: world.clock,
            transit: .milliseconds(100),
            answer: .seconds(5)
        )
    }

    /// A process whose refresh is on its way while another one signs out, and its call has ended; the refresh has not.
    private static func signedOutElsewhereDuringRefresh(
        _ world: SessionWorld
    ) async throws -> (session: OAuthSession, other: OAuthSession, live: LiveTokens) {
        let (session, other) = (try await world.signedIn(), world.process())
        try await other.restore()
        let live = live(world)
        try await world.sleep(.seconds(3_600))
        async let call = world.call(session)
        try await world.sleep(.milliseconds(500))
        try await other.signOut()
        _ = await call
        return (session, other, live)
    }

    @Test("a late credential is kept if the user has signed in again before the sign-out has ended")
    func signedInAgain() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world)
            try await world.sleep(.seconds(3_600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            live.add("anna-r2")
            try await session.signIn(OAuthCredential(accessToken: "anna-a2", refreshToken: "anna-r2"))
            _ = await call
            try await world.sleep(.seconds(60))
            world.store.slowEnds(to: .seconds(3))
            let rest = session.signOutNow()
            try await world.sleep(.seconds(1))
            live.add("anna-r3")
            try await session.signIn(OAuthCredential(accessToken: "anna-a3", refreshToken: "anna-r3"))
            try await rest.finish()
            #expect(live.alive == ["anna-r3", "fresh-1"])
            try await session.signOut()
            #expect(live.alive == [])
        }
    }

    @Test("a late credential is revoked though an unsaved credential of its session was found before")
    func afterUnsaved() async throws {
        try await SessionWorld.run { world in
            let base = MemoryStore()
            let full = FullStore(base)
            let (session, other) = (world.process(store: full), world.process(store: base))
            let live = Self.live(world)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await other.restore()
            full.isFull.withLock { $0 = true }
            try await world.sleep(.seconds(3_600))
            // The API accepts none of these access tokens.
            _ = await world.call(session)
            async let call = world.call(session)
            try await world.sleep(.milliseconds(1_500))
            try await other.signOut()
            async let second = world.call(session)
            _ = await (call, second)
            try await session.flush()
            #expect(live.alive == [])
        }
    }

    @Test(
        "a late credential waits for the next sign-out if somebody has signed in after a sign-out elsewhere",
        arguments: [true, false]
    )
    func elsewhere(signsInHere: Bool) async throws {
        try await SessionWorld.run { world in
            let (session, other, live) = try await Self.signedOutElsewhereDuringRefresh(world)
            try await world.sleep(.seconds(10))
            live.add("bert-r1")
            try await (signsInHere ? session : other).signIn(world.server.signIn("bert", at: world.date))
            try await world.sleep(.seconds(60))
            #expect(live.alive == ["bert-r1", "fresh-1"])
            // Found by a look of the process that has it.
            for process in [session, other] { try await process.restore() }
            try await other.signOut()
            try await session.restore()
            try await session.flush()
            #expect(live.alive == [])
        }
    }

    @Test("F22: a late credential is not lost if its process signs out while somebody is signed in elsewhere")
    func signOutOfNobody() async throws {
        try await SessionWorld.run { world in
            let (session, other, live) = try await Self.signedOutElsewhereDuringRefresh(world)
            live.add("bert-r1")
            try await other.signIn(world.server.signIn("bert", at: world.date))
            try await world.sleep(.seconds(60))
            // It is meant for nobody, and bert may be the same user.
            try await session.signOut()
            #expect(live.alive == ["bert-r1", "fresh-1"])
            try await other.signOut()
            try await session.restore()
            try await session.flush()
            #expect(live.alive == [])
        }
    }

    @Test(
        "a late credential is waited for by a flush that comes in the same moment as the end",
        arguments: [true, false]
    )
    func flushAtOnce(isElsewhere: Bool) async throws {
        for seed in UInt64(0)..<100 {
            try await SessionWorld.run(seed: seed) { world in
                let (session, other) = (try await world.signedIn(), world.process())
                try await other.restore()
                let live = Self.live(world)
                try await world.sleep(.seconds(3_600))
                async let call = world.call(session)
                try await world.sleep(.milliseconds(500))
                if isElsewhere {
                    try await other.signOut()
                    try await session.restore()
                } else {
                    session.signOutNow()
                }
                try await session.flush()
                #expect(live.alive == [])
                _ = await call
            }
        }
    }

    @Test("flush waits for what signOutNow has begun, and ends when nobody waits for it any more")
    func flush() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world)
            session.signOutNow()
            try await session.flush()
            #expect(live.alive == [])
        }
        try await SessionWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            _ = Self.live(world)
            try await world.sleep(.seconds(3_600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            try await other.signOut()
            _ = await call
            let start = world.clock.now.offset
            let flush = BackgroundTask.start {
                let error = await EndpointFixture.error { () async throws(SessionError) in try await session.flush() }
                #expect(error?.kind == .cancelled)
            }
            try await world.sleep(.seconds(1))
            flush.cancel()
            await flush.value
            #expect(world.clock.now.offset - start == .seconds(1))
        }
    }

    @Test("a refresh that hangs delays only the sign-out that has ended its session")
    func hanging() async throws {
        try await SessionWorld.run { world in
            let rules = SessionRules.bearer(
                revoke: { _ in },
                refresh: { _ in
                    await BackgroundTask.start { try? await world.clock.sleep(for: .seconds(1_000_000)) }.value
                    throw CancellationError()
                }
            )
            let key = CredentialKey(issuer: "https://id.test")
            let session = Session(key: key, rules: rules, clock: world.clock, random: world.random)
            let expired = Date(timeIntervalSince1970: 0)
            try await session.signIn(BearerToken(accessToken: "a", refreshToken: "r", expires: expired))
            let call = BackgroundTask.start { _ = try? await session.credential() }
            try await world.sleep(.seconds(1))
            try await session.signOut()
            await call.value
            let start = world.clock.now.offset
            try await session.signIn(BearerToken(accessToken: "b", refreshToken: "s"))
            try await session.signOut()
            #expect(world.clock.now.offset == start)
        }
    }

    @Test("signOut tells that it could not be revoked", arguments: [503, 400])
    func refused(status: Int) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world)
            try await world.sleep(.seconds(3_600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            let rest = session.signOutNow()
            _ = await call
            try await world.sleep(.seconds(1))
            world.server.transport.on(.post, "/revoke") { _, _ in .status(status) }
            let error = await EndpointFixture.error { () async throws(SessionError) in try await rest.finish() }
            #expect(error?.kind == .notRevoked)
            #expect(live.alive == ["fresh-1"])
        }
    }

    @Test("a credential that a cancelled sign-out could not revoke is revoked later", arguments: [0, 50, 150])
    func callerLeaves(after pause: Int) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world)
            let signOut = BackgroundTask.start { try? await session.signOut() }
            try await world.sleep(.milliseconds(pause))
            signOut.cancel()
            await signOut.value
            try await world.sleep(.seconds(60))
            #expect(live.alive == [])
            #expect(!session.isSignedIn)
        }
    }

    @Test(
        "a user who signs in elsewhere is found though a sign-out's record still waits for its removal",
        arguments: [1, 5, 25]
    )
    func nextUser(held: Int) async throws {
        try await SessionWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            let lock = try #require(try await world.store.lock(session.key))
            try await session.signOut()
            try await world.sleep(.seconds(held))
            lock.unlock()
            try await other.signIn(world.server.signIn("carl", at: world.date))
            try await session.restore()
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["carl-a1"])
        }
    }

    @Test("F22: a refresh that waits for its next attempt when its user signs out sends nothing more")
    func notRepeated() async throws {
        try await SessionWorld.run { world in
            let transport = ScriptedTransport(
                .status(503, header: [.retryAfter: "15"]),
                afterLast: .repeat,
                clock: world.clock
            )
            let tokens = AnyHttpService(
                apiUrl: "id.test",
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }),
                transport: transport,
                clock: world.clock
            )
            let rules = SessionRules.bearer(
                revoke: { _ in },
                refresh: { _ in try await AnyRequest(.post, ["token"], as: BearerToken.self).schedule(with: tokens) }
            )
            let session = Session(
                key: CredentialKey(issuer: "https://id.test"),
                rules: rules,
                store: MemoryStore(),
                clock: world.clock,
                random: world.random
            )
            let expired = BearerToken(accessToken: "a", refreshToken: "r", expires: Date(timeIntervalSince1970: 0))
            try await session.signIn(expired)
            async let credential = try? session.credential()
            try await world.sleep(.seconds(1))
            #expect(transport.count == 1)
            try await session.signOut()
            _ = await credential
            try await world.sleep(.seconds(120))
            #expect(transport.count == 1)
        }
    }
}
