import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A save whose wait was given up may succeed or fail later, and one that has failed may have happened: a network may
/// lose the answer.
@Suite("Saves whose outcome comes late")
struct LateSaveTests {
    @Test("a late save is not taken back when it happens while its failure is looked into", arguments: [true, false])
    func duringLook(isAtOnce: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.set { operation in
                switch operation {
                // Only the first look fails.
                case .load where world.clock.now.offset == .zero: .fails(.other(type: "Offline"))
                case .load: isAtOnce ? .init(before: .seconds(60)) : .init(after: .seconds(4))
                case .save: isAtOnce ? .init(after: .seconds(40)) : .init(before: .seconds(32))
                default: .ok
                }
            }
            await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("anna", at: world.date))
            }
            try await world.sleep(.seconds(60))
            #expect(store.count(of: .save) == 1)
            #expect(store.count(of: .delete) == 0)
            store.mend()
            #expect(await world.call(here).token == "anna-1")
            #expect(await world.call(world.process()).token == "anna-1")
        }
    }

    @Test(
        "a late save that replaces a user who could not be ended, or a damaged record, is not taken back",
        arguments: [true, false]
    )
    func overOther(isDamaged: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            if !isDamaged { try await here.signIn(world.server.signIn("xaver", at: world.date)) }
            store.set { operation in
                switch operation {
                case .save: .init(before: .seconds(33))
                case .load where !isDamaged: .init(after: .seconds(6))
                case .load where world.clock.now.offset < .seconds(43):
                    .init(before: .seconds(6), happens: false, error: .damaged(place: "record"))
                case .end where !isDamaged: .fails()
                default: .ok
                }
            }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            store.mend()
            try await world.sleep(.seconds(120))
            #expect(store.count(of: .delete) == 0)
            #expect(await world.call(here).token == "anna-1")
            #expect(await world.call(world.process()).token == "anna-1")
        }
    }

    @Test(
        "a late save does not bring back a user who has signed out elsewhere before it failed",
        arguments: 0..<20 as Range<UInt64>
    )
    func signedOutBeforeFailure(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.set { operation in
                guard operation == .save else { return .ok }
                return .init(before: .seconds(33), after: .seconds(7), error: .other(type: "ConnectionLost"))
            }
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(anna) }
            try await world.sleep(.seconds(35))
            let there = world.process()
            #expect(try await there.restore())
            try await there.signOut()
            store.mend()
            await signIn.value
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == nil)
            #expect(await world.call(there).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test(
        "a late save does not bring back a user who has signed out while nothing could be read",
        arguments: 0..<20 as Range<UInt64>,
        [true, false]
    )
    func signedOutUnread(seed: UInt64, isReadAgain: Bool) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            let hasSaved = Locked(false)
            store.set { operation in
                switch operation {
                case .save:
                    hasSaved.withLock { $0 = true }
                    return .lost()
                case .load, .version, .isEnded:
                    return hasSaved.withLock { $0 } ? .fails(.other(type: "ConnectionLost")) : .ok
                default: return .ok
                }
            }
            await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("anna", at: world.date))
            }
            if isReadAgain { store.mend() } else { store.failReads() }
            let there = world.process()
            #expect(try await there.restore())
            // As long as nothing can be read here, there is no lock for the removal.
            try? await there.signOut()
            #expect(world.storedToken == nil)
            // The disk can be read again, and turns out to be full; after that it cannot be read any more.
            let isFull = Locked(false)
            store.set { operation in
                switch operation {
                case .save where !isReadAgain:
                    isFull.withLock { $0 = true }
                    return .fails()
                case .load, .version, .isEnded: return isFull.withLock { $0 } ? .fails(.other(type: "Offline")) : .ok
                default: return .ok
                }
            }
            try await world.sleep(.seconds(200))
            #expect(world.storedToken == nil)
            store.mend()
            try await world.sleep(.seconds(200))
            #expect(await world.call(here).token == nil)
            #expect(await world.call(world.process()).token == nil)
            #expect(world.store.lock(world.key) != nil)
        }
    }

    @Test("a late save is not removed in place of a record that could not be read")
    func removedUnseen() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.failReads { $0 == .save ? .lost() : .ok }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            #expect(store.count(of: .delete) == 0)
            #expect(await world.call(world.process()).token == "anna-1")
        }
    }

    @Test("a late save does not keep the lock once it has succeeded")
    func freed() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.failReads { $0 == .save ? .lost() : .ok }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            #expect(world.store.lock(world.key) == nil)
            store.failReads { $0 == .save ? .init(before: .seconds(40)) : .ok }
            try await world.sleep(.seconds(35))
            store.failReads()
            #expect(world.store.lock(world.key) == nil)
            try await world.sleep(.seconds(20))
            #expect(world.store.lock(world.key) != nil)
            #expect(store.count(of: .save) == 2)
        }
    }

    @Test("a late save does not undo a refresh elsewhere, which would be sent a second time")
    func refreshedUnread() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.failReads { $0 == .save ? .lost() : .ok }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            try? await here.flush()
            store.failReads()
            let there = world.process()
            #expect(try await there.restore())
            world.server.reject("anna-1")
            #expect(await world.call(there).token == "anna-2")
            try await world.sleep(.seconds(20))
            #expect(world.storedToken == "anna-2")
            store.mend()
            #expect(await world.call(here).token == "anna-2")
            #expect(await world.call(world.process()).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }

    @Test("a late save does not bring back a user who signed out elsewhere after the sign-in's caller left")
    func callerLeft() async throws {
        try await TokenWorld.run { world in
            let store = CancellableStore(base: world.store, clock: world.clock)
            let here = world.process(store: store)
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(anna) }
            while world.storedToken == nil { try await world.sleep(.milliseconds(10)) }
            signIn.cancel()
            let there = world.process()
            #expect(try await there.restore())
            try await there.signOut()
            try await world.sleep(.seconds(20))
            #expect(world.storedToken == nil)
            #expect(await world.call(here).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test("a stored refresh that might not last is saved once more")
    func refresh() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            try await here.signIn(world.server.signIn("anna", at: world.date))
            let events = world.storeEvents(of: here)
            try await world.sleep(.seconds(3600))
            store.set { $0 == .save ? .lost() : .ok }
            #expect(await world.call(here).token == "anna-2")
            store.mend()
            let saves = store.count(of: .save)
            try await world.sleep(.seconds(200))
            #expect(store.count(of: .save) == saves + 1)
            #expect(events.withLock { $0 } == ["failed", "recovered"])
            #expect(world.storedToken == "anna-2")
        }
    }

    @Test("a late save is repeated if the record might not last, though nobody waits for it any more")
    func lateNotDurable() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            try await here.signIn(world.server.signIn("anna", at: world.date))
            let events = world.storeEvents(of: here)
            try await world.sleep(.seconds(3600))
            store.set { operation in
                guard operation == .save else { return .ok }
                return .init(after: .seconds(30) + .milliseconds(50), error: .notDurable(place: "folder"))
            }
            // The note that the credential is being sent is there; the refresh fails.
            world.server.fail(.answered(.status(502)))
            #expect(await world.call(here).token == nil)
            store.mend()
            let saves = store.count(of: .save)
            try await world.sleep(.seconds(200))
            #expect(store.count(of: .save) == saves + 1)
            #expect(events.withLock { $0 } == ["failed", "recovered"])
        }
    }

    @Test(
        "a late save is repeated over a record that has been damaged since, and not over another app's",
        arguments: [
            (.damaged(place: "record"), 2), (.foreign(place: "record"), 1),
            (.newerFormat(place: "record", version: 9), 1), (.sealedOtherwise(issuer: "a"), 1),
        ] as [(CredentialStoreError, Int)]
    )
    func unreadableSince(error: CredentialStoreError, saves: Int) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            let events = world.storeEvents(of: here)
            store.set { $0 == .save ? .lost(.notDurable(place: "folder")) : .ok }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            store.set { $0 == .load ? .fails(error) : .ok }
            try await world.sleep(.seconds(600))
            let loads = store.count(of: .load)
            try await world.sleep(.seconds(3600))
            #expect(store.count(of: .save) == saves)
            #expect(store.count(of: .load) == loads)
            #expect(events.withLock { $0 } == ["failed", "recovered"])
        }
    }

    @Test("a late save is repeated if the note that the server has ended the session might not last")
    func expiryNotDurable() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            try await here.signIn(world.server.signIn("anna", at: world.date))
            let events = world.storeEvents(of: here)
            world.server.endSessions()
            let saves = Locked(0)
            store.set { operation in
                guard operation == .save else { return .ok }
                let isNote = saves.withLock { saves in
                    saves += 1
                    return saves == 2
                }
                return isNote ? .lost(.notDurable(place: "folder")) : .ok
            }
            #expect(await world.call(here).token == nil)
            #expect(events.withLock { $0 } == ["failed"])
            try await world.sleep(.seconds(200))
            #expect(saves.withLock { $0 } == 3)
            #expect(world.store.load(world.key)?.hasExpired == true)
            #expect(events.withLock { $0 } == ["failed", "recovered"])
        }
    }
}

/// A store over a network: what is saved is there at once, its answer takes a while, and a caller who is cancelled gets
/// none.
private struct CancellableStore: StoreInFront {
    let base: MemoryStore
    let clock: ManualClock

    func pass(_ operation: StoreOperation) async throws { try await clock.sleep(for: .milliseconds(50)) }

    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try Task.checkCancellation()
        base.save(stored, for: key)
        try await clock.sleep(for: .milliseconds(100))
    }
}
