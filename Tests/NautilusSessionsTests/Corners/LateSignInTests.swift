import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A sign-in and a sign-out at the same time")
struct LateSignInTests {
    /// A store whose saves take twenty seconds, and which cannot be read, or end a session, while it is told so.
    private struct SlowStore: StoreInFront {
        let saveTime = Locked(Duration.seconds(20))
        /// How long a note of an end takes to be on the disk, where others see it at once.
        let endTime = Locked(Duration.zero)
        let isReadable = Locked(true)
        let endsSessions = Locked(true)
        let base: MemoryStore
        private let clock: ManualClock

        init(_ world: TokenWorld) {
            (base, clock) = (world.store, world.clock)
        }

        func pass(_ operation: StoreOperation) async throws {
            switch operation {
            case .load, .version: try check(isReadable)
            case .end: try check(endsSessions)
            case .save: await pause(saveTime.withLock { $0 })
            case .delete, .lock: break
            }
        }

        func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
            try await pass(.end)
            defer { base.end(session, for: key) }
            let stored = base.end(session, for: key)
            await pause(endTime.withLock { $0 })
            return stored
        }

        /// Waits, whether or not anybody waits for that.
        private func pause(_ time: Duration) async {
            if time > .zero { await BackgroundTask.start { [clock] in try? await clock.sleep(for: time) }.value }
        }

        private func check(_ works: Locked<Bool>) throws {
            guard works.withLock({ $0 }) else { throw CredentialStoreError.full(place: "disk") }
        }
    }

    @Test("a sign-in that is stored after its sign-out does not come back, though the store was empty")
    func signedOut() async throws {
        try await TokenWorld.run { world in
            let store = SlowStore(world)
            let session = world.process(store: store)
            // So that it does not learn what is stored before it saves.
            store.isReadable.withLock { $0 = false }
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(anna) }
            try await world.sleep(.seconds(1))
            store.isReadable.withLock { $0 = true }
            store.endsSessions.withLock { $0 = false }
            try? await session.signOut()
            await signIn.value
            try await world.sleep(.seconds(120))
            #expect(world.store.load(world.key) == nil)
            #expect(try await world.process().restore() == false)
            #expect(!session.isSignedIn)
        }
    }

    @Test(
        "a slow sign-in is not taken for a sign-out by a refresh elsewhere: nothing is revoked",
        // The second save is given up by those who wait for it, and comes all the same.
        arguments: [(Duration.seconds(9), Duration.seconds(20)), (.zero, .seconds(50))]
    )
    func slowSave(endTime: Duration, saveTime: Duration) async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn("anna")
            let store = SlowStore(world)
            store.endTime.withLock { $0 = endTime }
            store.saveTime.withLock { $0 = saveTime }
            let here = world.process(store: store)
            try await here.restore()
            try await world.sleep(.seconds(3600))
            let call = BackgroundTask.start { _ = await world.call(there) }
            try await world.sleep(.milliseconds(50))
            try? await here.signIn(world.server.signIn("annas-other", at: world.date), revokingReplaced: false)
            await call.value
            try await world.sleep(.seconds(120))
            #expect(world.server.refreshes == ["anna-1"])
            #expect(world.server.revoked == [])
            #expect(await world.call(here).token == "annas-other-1")
        }
    }

    /// A process that follows Anna, whose notes of an end take ten seconds, and which signs Bert in.
    private func signingIn(
        in world: TokenWorld,
        revokingReplaced: Bool
    ) async throws -> (here: Session<ApiToken>, Task<Void, Never>) {
        let store = SlowStore(world)
        store.saveTime.withLock { $0 = .zero }
        let here = world.process(store: store)
        try await here.restore()
        store.endTime.withLock { $0 = .seconds(10) }
        let bert = world.server.signIn("bert", at: world.date)
        let signIn = BackgroundTask.start { try? await here.signIn(bert, revokingReplaced: revokingReplaced) }
        try await world.sleep(.seconds(1))
        store.endTime.withLock { $0 = .zero }
        return (here, signIn)
    }

    @Test("a sign-in does not end the session of a user who signs in elsewhere once it is stored")
    func laterElsewhere() async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn("anna")
            let (here, signIn) = try await signingIn(in: world, revokingReplaced: false)
            try await here.flush()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            await signIn.value
            try await world.sleep(.seconds(60))
            #expect(await world.call(there).token == "carl-1")
            try await here.restore()
            #expect(await world.call(here).token == "carl-1")
        }
    }

    @Test("a sign-in revokes only the credential that it replaces, not that of a sign-in elsewhere")
    func revokesReplaced() async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn("anna")
            let (here, signIn) = try await signingIn(in: world, revokingReplaced: true)
            try? await here.signOut()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            await signIn.value
            try await world.sleep(.seconds(60))
            #expect(!world.server.revoked.contains("carl-1"))
            #expect(await world.call(there).token == "carl-1")
        }
    }

    /// A store whose loads take twenty seconds while it is told so, and bring what was stored when they began, or then.
    private struct SlowLooks: StoreInFront {
        let base: MemoryStore
        let clock: ManualClock
        let isSlow = Locked(true)
        let showsEnd = Locked(false)

        func load(_ key: CredentialKey) async throws -> StoredCredential? {
            let stored = base.load(key)
            if isSlow.withLock({ $0 }) {
                await BackgroundTask.start { [clock] in try? await clock.sleep(for: .seconds(20)) }.value
            }
            return showsEnd.withLock { $0 } ? base.load(key) : stored
        }
    }

    @Test("a sign-out that overtakes a sign-in is not meant for a user who signs in elsewhere")
    func overtakenBySignOut() async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn("anna")
            let session = world.process(store: SlowLooks(base: world.store, clock: world.clock))
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(bert) }
            try await world.sleep(.seconds(1))
            let signOut = session.signOutNow()
            try await world.sleep(.seconds(1))
            try await there.signIn(world.server.signIn("carl", at: world.date))
            await signIn.value
            try? await signOut.finish()
            try await world.sleep(.seconds(120))
            #expect(!world.server.revoked.contains("carl-1"))
            #expect(await world.call(there).token == "carl-1")
        }
    }

    @Test("a sign-in is told that a sign-out has overtaken it, and not what that sign-out meets")
    func overtakenWithoutLock() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let lock = try #require(world.store.lock(world.key))
            let session = world.process(store: SlowLooks(base: world.store, clock: world.clock))
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start {
                let error = await #expect(throws: SessionError.self) { try await session.signIn(bert) }
                #expect(error?.kind == .superseded)
            }
            try await world.sleep(.seconds(1))
            let signOut = session.signOutNow()
            await signIn.value
            lock.unlock()
            try? await signOut.finish()
        }
    }

    @Test("a sign-in does not end the session of a later one that is stored before its own look")
    func overtakenBySignIn() async throws {
        try await TokenWorld.run { world in
            let store = SlowLooks(base: world.store, clock: world.clock)
            store.showsEnd.withLock { $0 = true }
            let session = world.process(store: store)
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(bert) }
            try await world.sleep(.seconds(1))
            store.isSlow.withLock { $0 = false }
            try await session.signIn(world.server.signIn("carl", at: world.date))
            await signIn.value
            #expect(await world.call(session).token == "carl-1")
            #expect(await world.call(world.process()).token == "carl-1")
        }
    }

    @Test(
        "a sign-out that overtakes a sign-in with a known predecessor spares the user whom a look shows",
        arguments: [true, false]
    )
    func overtakenFromKnown(isSignedIn: Bool) async throws {
        try await TokenWorld.run { world in
            if isSignedIn { _ = try await world.signedIn("anna") }
            let store = SlowLooks(base: world.store, clock: world.clock)
            store.isSlow.withLock { $0 = false }
            let session = world.process(store: store)
            try await session.restore()
            store.isSlow.withLock { $0 = true }
            store.showsEnd.withLock { $0 = true }
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(bert) }
            try await world.sleep(.seconds(1))
            let signOut = session.signOutNow()
            try await world.sleep(.seconds(1))
            let there = try await world.signedIn("carl")
            await signIn.value
            try? await signOut.finish()
            try await world.sleep(.seconds(120))
            #expect(await world.call(there).token == "carl-1")
            #expect(!world.server.revoked.contains("carl-1"))
        }
    }

    @Test("a sign-in ends the session before for the other processes at once, however slow its look is")
    func slowLook() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = SlowLooks(base: world.store, clock: world.clock)
            store.isSlow.withLock { $0 = false }
            let session = world.process(store: store)
            try await session.restore()
            store.isSlow.withLock { $0 = true }
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(bert) }
            try await world.sleep(.seconds(1))
            #expect(world.store.load(world.key) == nil)
            await signIn.value
            #expect(world.store.load(world.key) != nil)
        }
    }

    /// A store whose first load takes twenty seconds.
    private struct SlowFirstLook: StoreInFront {
        let isFirst = Locked(true)
        let base: MemoryStore
        let clock: ManualClock

        func pass(_ operation: StoreOperation) async throws {
            let isFirst = isFirst.withLock { isFirst in
                defer { if operation == .load { isFirst = false } }
                return isFirst && operation == .load
            }
            if isFirst { try await clock.sleep(for: .seconds(20)) }
        }
    }

    @Test("a sign-in is not ended by an earlier sign-out that still looks for the stored user")
    func afterSignOut() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let session = world.process(store: SlowFirstLook(base: world.store, clock: world.clock))
            let signOut = BackgroundTask.start { try? await session.signOut() }
            try await world.sleep(.seconds(1))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            await signOut.value
            #expect(await world.call(session).token == "bert-1")
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }
}
