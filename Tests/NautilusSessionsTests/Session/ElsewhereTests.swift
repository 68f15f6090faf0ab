import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("Sign-ins and sign-outs in other processes")
struct ElsewhereTests {
    /// A store whose operations take a while, or fail, while it is told so.
    private struct SlowStore: StoreInFront {
        let base: MemoryStore
        let delays = Locked<[StoreOperation: Duration]>([:])
        let failing = Locked<Set<StoreOperation>>([])
        private let clock: ManualClock

        init(_ world: TokenWorld) { (base, clock) = (world.store, world.clock) }

        func delay(_ operation: StoreOperation, by duration: Duration?) { delays.withLock { $0[operation] = duration } }

        func pass(_ operation: StoreOperation) async throws {
            if let delay = delays.withLock({ $0[operation] }) {
                await BackgroundTask.start { [clock] in try? await clock.sleep(for: delay) }.value
            }
            if failing.withLock({ $0.contains(operation) }) { throw CredentialStoreError.notPermitted(place: "record") }
        }
    }

    @Test(
        "a sign-in elsewhere stays, though a process that has not heard of it signs out the same token",
        arguments: [false, true]
    )
    func sameToken(hasHeard: Bool) async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn("anna"), world.process())
            try await there.signIn(world.server.signIn("anna", at: world.date))
            if hasHeard { _ = try? await here.restore() }
            try await here.signOut()
            #expect(world.server.revoked == (hasHeard ? ["anna-1"] : []))
            guard !hasHeard else { return }
            #expect(await world.call(there).token == "anna-1")
        }
    }

    @Test("a sign-in elsewhere stays and is not revoked, though the replaced user signs out twice")
    func replaced() async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn("anna"), world.process())
            try await there.signIn(world.server.signIn("carl", at: world.date))
            try await here.restore()
            try await there.signOut()
            #expect(world.server.revoked == ["carl-1"])
            try await here.restore()
            for _ in 1...2 { try await here.signOut() }
            #expect(world.server.revoked == ["carl-1"])
        }
    }

    @Test("a sign-in elsewhere stays, though the answer to an overtaken sign-in comes")
    func overtaken() async throws {
        try await TokenWorld.run { world in
            let (here, there) = (world.process(), world.process())
            try await here.restore()
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start {
                try? await here.signIn {
                    try await world.sleep(.seconds(20))
                    return anna
                }
            }
            try await world.sleep(.seconds(5))
            here.signOutNow()
            try await there.signIn(anna)
            await signIn.value
            try await world.sleep(.seconds(100))
            #expect(world.server.revoked == [])
            #expect(await world.call(there).token == "anna-1")
        }
    }

    @Test("a sign-in that brings the token again stays while a sign-out looks whether to revoke it")
    func sameTokenHere() async throws {
        try await TokenWorld.run { world in
            let store = SlowStore(world)
            let session = world.process(store: store)
            let anna = world.server.signIn("anna", at: world.date)
            try await session.signIn(anna)
            store.delay(.load, by: .seconds(5))
            let signOut = session.signOutNow()
            try await world.sleep(.seconds(1))
            store.delay(.load, by: nil)
            try await session.signIn(anna)
            try? await signOut.finish()
            try await world.sleep(.seconds(60))
            #expect(world.server.revoked == [])
            #expect(await world.call(session).token == "anna-1")
        }
    }

    @Test("a sign-in elsewhere stays, though a sign-in comes too late while a refresh looks at the store")
    func lateSignIn() async throws {
        try await TokenWorld.run { world in
            let store = SlowStore(world)
            let session = world.process(store: store)
            let (late, bert) = (
                world.server.signIn("late", at: world.date), world.server.signIn("bert", at: world.date)
            )
            let first = BackgroundTask.start {
                try? await session.signIn {
                    // The call looks at the store, twice, and then its refresh does, for two seconds each.
                    try await world.sleep(.seconds(3606))
                    return late
                }
            }
            try await world.sleep(.seconds(1))
            try await session.signIn(bert)
            try await world.sleep(.seconds(3600))
            store.delay(.version, by: .seconds(2))
            #expect(await world.call(session).token == "bert-2")
            await first.value
        }
    }

    @Test(
        "a sign-in elsewhere stays, though a process that has just started signs out twice",
        arguments: [false, true]
    )
    func twice(hasExpired: Bool) async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn("anna")
            if hasExpired {
                world.server.endSessions()
                #expect(await world.call(there).token == nil)
            }
            let store = SlowStore(world)
            let here = world.process(store: store)
            store.delay(.lock, by: .seconds(1))
            let first = here.signOutNow()
            try await world.sleep(.milliseconds(500))
            try await there.signIn(world.server.signIn("carl", at: world.date))
            try await first.finish()
            #expect(await world.call(there).token == "carl-1")
            try await here.signOut()
            #expect(await world.call(there).token == "carl-1")
            #expect(world.server.revoked == (hasExpired ? [] : ["anna-1"]))
        }
    }

    @Test("a sign-in elsewhere stays, though a second sign-in here is overtaken by a sign-out")
    func secondSignIn() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = SlowStore(world)
            let (here, there) = (world.process(store: store), world.process())
            let lock = try #require(world.store.lock(world.key))
            let bert = world.server.signIn("bert", at: world.date)
            let first = BackgroundTask.start { try? await here.signIn(bert) }
            try await world.sleep(.seconds(1))
            lock.unlock()
            store.delay(.lock, by: .seconds(3))
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.delay(.load, by: .seconds(1))
            let dora = world.server.signIn("dora", at: world.date)
            let second = BackgroundTask.start { try? await here.signIn(dora) }
            try await world.sleep(.milliseconds(1))
            let signOut = here.signOutNow()
            await first.value
            await second.value
            try? await signOut.finish()
            try await world.sleep(.seconds(100))
            #expect(await world.call(there).token == "carl-1")
        }
    }

    @Test("a sign-in elsewhere stays, though a sign-in's own look shows it after another look")
    func slowLook() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = SlowStore(world)
            let (here, there) = (world.process(store: store), world.process())
            try await here.restore()
            store.failing.withLock { $0 = [.lock] }
            try? await here.signOut()
            store.delay(.load, by: .seconds(10))
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(bert) }
            try await world.sleep(.milliseconds(1))
            store.delay(.load, by: nil)
            // Meanwhile the sign-out is tried again.
            try await world.sleep(.seconds(5))
            try await there.signIn(world.server.signIn("carl", at: world.date))
            await signIn.value
            #expect(await world.call(there).token == "carl-1")
            store.failing.withLock { $0 = [] }
            try await world.sleep(.seconds(100))
            #expect(await world.call(there).token == "carl-1")
            #expect(await world.call(here).token == "carl-1")
        }
    }

    /// A store that shows a record at once, and whose saves return, or fail, later.
    private struct LateStore: StoreInFront, PromptStore {
        let base: MemoryStore
        let clock: ManualClock
        let isFailing = Locked(false)

        func promptVersion(of key: CredentialKey) -> CredentialVersion? { base.version(of: key) }
        func promptLoad(_ key: CredentialKey) -> StoredCredential? { base.load(key) }
        func promptIsEnded(_ session: UUID, for key: CredentialKey) -> Bool { base.promptIsEnded(session, for: key) }

        func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
            base.save(stored, for: key)
            if isFailing.withLock({ $0 }) {
                throw CredentialStoreError.system(operation: "fsync", place: "folder", code: 5)
            }
            await BackgroundTask.start { [clock] in try? await clock.sleep(for: .seconds(120)) }.value
        }
    }

    @Test("a sign-out elsewhere counts once its end is noted, though the sign-in's save has not returned")
    func whileSaving() async throws {
        try await TokenWorld.run { world in
            let here = world.process(store: LateStore(base: world.store, clock: world.clock))
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(bert) }
            try await world.sleep(.seconds(1))
            #expect(await world.call(here).token == "bert-1")
            let there = world.process()
            #expect(await world.call(there).token == "bert-1")
            there.signOutNow()
            try await world.sleep(.seconds(1))
            #expect(await world.call(here).token == nil)
            await signIn.value
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test("a sign-out elsewhere counts, though the sign-in's save failed with the record in place")
    func failedSave() async throws {
        try await TokenWorld.run { world in
            let store = LateStore(base: world.store, clock: world.clock)
            store.isFailing.withLock { $0 = true }
            let here = world.process(store: store)
            await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("bert", at: world.date))
            }
            try await world.process().signOut()
            store.isFailing.withLock { $0 = false }
            try await world.sleep(.seconds(200))
            #expect(await world.call(world.process()).token == nil)
            #expect(await world.call(here).token == nil)
        }
    }
}
