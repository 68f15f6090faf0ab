import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

/// A save may fail, or be given up, and its record be there all the same: then the sign-in is every process's.
@Suite("A sign-in that is stored although its save has failed")
struct UnsavedElsewhereTests {
    /// A store that is not asked at once, in which saves fail by themselves, or after the record is there, or hang.
    private final class FailingStore: StoreInFront {
        enum Fault { case full, notDurable, hang(Duration, isDurable: Bool), slow(Duration) }

        let base: MemoryStore
        /// Whether what cannot be read can be deleted.
        let deletes: Bool
        private let clock: ManualClock
        private let state = Locked<(fault: Fault?, isUnreadable: Bool)>((nil, false))

        init(_ world: TokenWorld, deletes: Bool = true) {
            (base, clock, self.deletes) = (world.store, world.clock, deletes)
        }

        func fail(_ fault: Fault?) { state.withLock { $0.fault = fault } }
        func read(fails: Bool) { state.withLock { $0.isUnreadable = fails } }

        func pass(_ operation: StoreOperation) async throws {
            let isRead = operation == .load || operation == .version
            if isRead || operation == .delete && !deletes, state.withLock({ $0.isUnreadable }) {
                throw CredentialStoreError.notPermitted(place: "record")
            }
        }

        func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool {
            try await pass(.load)
            return await base.isEnded(session, for: key)
        }

        func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
            switch state.withLock({ $0.fault }) {
            case nil: base.save(stored, for: key)
            case .full: throw CredentialStoreError.full(place: "disk")
            case .notDurable:
                base.save(stored, for: key)
                throw CredentialStoreError.notDurable(place: "folder")
            case .hang(let duration, let isDurable):
                await sleep(duration)
                base.save(stored, for: key)
                if !isDurable { throw CredentialStoreError.notDurable(place: "folder") }
            case .slow(let duration):
                base.save(stored, for: key)
                await sleep(duration)
            }
        }

        private func sleep(_ duration: Duration) async {
            await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
        }
    }

    /// A process whose sign-in is stored although its save has failed, and which could not look at the store.
    private func storedUnseen(in world: TokenWorld) async -> (store: FailingStore, here: Session<ApiToken>) {
        let store = FailingStore(world)
        let here = world.process(store: store)
        store.fail(.notDurable)
        store.read(fails: true)
        try? await here.signIn(world.server.signIn("anna", at: world.date))
        return (store, here)
    }

    @Test("a sign-in stored by a failed save is not removed, though nothing could be read meanwhile")
    func unread() async throws {
        try await TokenWorld.run { world in
            let (store, here) = await storedUnseen(in: world)
            #expect(world.store.load(world.key) != nil)
            store.fail(nil)
            store.read(fails: false)
            try await world.sleep(.seconds(100))
            #expect(await world.call(here).token == "anna-1")
            #expect(await world.call(world.process()).token == "anna-1")
        }
    }

    @Test("a save that was given up and succeeds reports at once that the store works again")
    func recovered() async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world)
            let here = world.process(store: store)
            let recoveries = Locked(0)
            let listening = BackgroundTask.start {
                for await event in here.events {
                    if case .storeRecovered = event { recoveries.withLock { $0 += 1 } }
                }
            }
            store.fail(.hang(.seconds(40), isDurable: true))
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(100))
            #expect(recoveries.withLock { $0 } == 1)
            listening.cancel()
        }
    }

    @Test("a sign-in stored by a failed save does not come back after a sign-out elsewhere, though unread")
    func signedOut() async throws {
        try await TokenWorld.run { world in
            let (store, here) = await storedUnseen(in: world)
            try await world.process().signOut()
            store.fail(nil)
            try await world.sleep(.seconds(2))
            store.read(fails: false)
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    /// A process whose sign-in is stored after its save was given up, and another one that has just found it. Meanwhile
    /// the first one has refreshed the credential.
    private func givenUp(
        in world: TokenWorld,
        isDurable: Bool
    ) async throws -> (here: Session<ApiToken>, there: Session<ApiToken>) {
        let store = FailingStore(world)
        let (here, there) = (world.process(store: store), world.process())
        store.fail(.full)
        try? await here.signIn(world.server.signIn("anna", at: world.date))
        try await world.sleep(.seconds(3600))
        store.fail(.hang(.seconds(40), isDurable: isDurable))
        #expect(await world.call(here).token == "anna-2")
        store.fail(nil)
        while try await !there.restore() { try await world.sleep(.milliseconds(50)) }
        return (here, there)
    }

    @Test(
        "a refreshed sign-in whose save was given up does not come back after a sign-out elsewhere",
        arguments: 0..<20 as Range<UInt64>,
        [true, false]
    )
    func givenUp(seed: UInt64, isDurable: Bool) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let (here, there) = try await givenUp(in: world, isDurable: isDurable)
            try await there.signOut()
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test(
        "a sign-in keeps its refresh while its save was given up, without a second refresh",
        arguments: 0..<20 as Range<UInt64>,
        [true, false]
    )
    func refreshedMeanwhile(seed: UInt64, isDurable: Bool) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let (here, there) = try await givenUp(in: world, isDurable: isDurable)
            #expect(await world.call(there).token == "anna-2")
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == "anna-2")
            #expect(await world.call(world.process()).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }

    @Test(
        "a sign-in stored by a failed save goes on with another process's refresh, without a second one",
        arguments: [false, true]
    )
    func refreshedElsewhere(failsOn: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world)
            let here = world.process(store: store)
            store.fail(.notDurable)
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            store.fail(failsOn ? .full : nil)
            try await world.sleep(.seconds(3600))
            let there = world.process()
            #expect(await world.call(there).token == "anna-2")
            #expect(await world.call(here).token == "anna-2")
            store.fail(nil)
            try await world.sleep(.seconds(3700))
            #expect(await world.call(here).token == "anna-3")
            #expect(await world.call(there).token == "anna-3")
            #expect(world.server.refreshes.count == 2)
        }
    }

    @Test("a sign-in stored by a failed save is saved again, since it might not survive a power failure")
    func savedAgain() async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world)
            let here = world.process(store: store)
            store.fail(.notDurable)
            let error = await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("anna", at: world.date))
            }
            #expect(error?.kind == .store(.notDurable(place: "folder")))
            let first = world.store.version(of: world.key)
            store.fail(nil)
            try await world.sleep(.seconds(100))
            let second = world.store.version(of: world.key)
            #expect(first != second)
            try await world.sleep(.seconds(1000))
            #expect(world.store.version(of: world.key) == second)
            #expect(await world.call(here).token == "anna-1")
        }
    }

    @Test("a refresh of a sign-in stored by a failed save is saved, before the store is said to work")
    func refreshSavedAgain() async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world)
            let here = world.process(store: store)
            let recoveries = Locked<[Duration]>([])
            let listening = BackgroundTask.start {
                for await event in here.events {
                    if case .storeRecovered = event { recoveries.withLock { $0.append(world.clock.now.offset) } }
                }
            }
            try await here.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            store.fail(.notDurable)
            #expect(await world.call(here).token == "anna-2")
            let first = world.store.version(of: world.key)
            #expect(await world.call(here).token == "anna-2")
            #expect(recoveries.withLock { $0 } == [])
            store.fail(nil)
            try await world.sleep(.seconds(100))
            #expect(world.store.version(of: world.key) != first)
            #expect(recoveries.withLock { $0 }.count == 1)
            listening.cancel()
        }
    }

    @Test("a sign-in stored by a failed save does not end a later sign-in elsewhere")
    func laterUser() async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world, deletes: false)
            let here = world.process(store: store)
            store.read(fails: true)
            store.fail(.full)
            try? await here.signIn(world.server.signIn("anna", at: world.date), revokingReplaced: true)
            store.read(fails: false)
            #expect(await world.call(here).token == "anna-1")
            try await world.sleep(.milliseconds(1))
            let there = world.process()
            try await there.signIn(world.server.signIn("bert", at: world.date))
            store.fail(nil)
            try await world.sleep(.seconds(200))
            #expect(world.server.revoked == [])
            #expect(await world.call(there).token == "bert-1")
            #expect(await world.call(here).token == "bert-1")
        }
    }

    @Test("a sign-in ends when it is signed out elsewhere before its save has returned", arguments: [false, true])
    func slow(isOneProcess: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FailingStore(world)
            let process = SimulatedProcess()
            let here = world.process(store: store, in: process)
            store.fail(.slow(.seconds(9)))
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(anna) }
            try await world.sleep(.seconds(1))
            let there = world.process(in: isOneProcess ? process : SimulatedProcess())
            try await there.restore()
            there.signOutNow()
            try await world.sleep(.seconds(1))
            // Other processes are asked in the background.
            if !isOneProcess {
                _ = await world.call(here)
                try await world.sleep(.seconds(1))
            }
            #expect(await world.call(here).token == nil)
            await signIn.value
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test("a sign-in stored by a failed save revokes the user it replaces, though found later")
    func revokesLater() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = FailingStore(world, deletes: false)
            let here = world.process(store: store)
            store.read(fails: true)
            store.fail(.full)
            let bert = world.server.signIn("bert", at: world.date)
            try? await here.signIn(bert, revokingReplaced: true)
            #expect(world.server.revoked == [])
            store.read(fails: false)
            store.fail(nil)
            try await world.sleep(.seconds(200))
            #expect(world.server.revoked == ["anna-1"])
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }

    @Test("a sign-in reports no failing store when only its caller has left")
    func cancelled() async throws {
        try await TokenWorld.run { world in
            let session = world.process()
            let events = Locked<[String]>([])
            let listening = BackgroundTask.start {
                for await event in session.events { events.withLock { $0.append("\(event)") } }
            }
            let anna = world.server.signIn("anna", at: world.date)
            let lock = try #require(world.store.lock(world.key))
            let signIn = BackgroundTask.start { try? await session.signIn(anna) }
            try await world.sleep(.seconds(1))
            signIn.cancel()
            await signIn.value
            lock.unlock()
            try await world.sleep(.seconds(100))
            #expect(await world.call(world.process()).token == "anna-1")
            listening.cancel()
            #expect(!events.withLock { $0 }.contains { $0.contains("store") })
        }
    }
}
