import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// What this process knows, while the store cannot be told.
@Suite("Changes that could not be saved")
struct UnsavedTests {
    @Test("a sign-in over a store that could not be read is not overruled by the user who is found there afterwards")
    func signIn() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            let session = world.process(store: store)
            store.fail(StoreOperation.allCases)
            await #expect(throws: SessionError.self) {
                try await session.signIn(world.server.signIn("bert", at: world.date))
            }
            store.fail([.save])
            #expect(await world.call(session).token == "bert-1")
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).token == "bert-1")
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }

    @Test(
        "the user whom a sign-in replaces does not come back with the next process, though the disk is full",
        arguments: [true, false]
    )
    func replacedUser(isKnown: Bool) async throws {
        try await TokenWorld.run { world in
            let store = PartlyBrokenStore(base: world.store)
            let first = world.process(store: store)
            try await first.signIn(world.server.signIn("anna", at: world.date))
            let session = isKnown ? first : world.process(store: store)
            // As on a full disk, which takes nothing and gives everything up.
            store.fail([.save, .end])
            await #expect(throws: SessionError.self) {
                try await session.signIn(world.server.signIn("bert", at: world.date))
            }
            #expect(await world.call(session).token == "bert-1")
            #expect(await world.call(world.process()).token == nil)
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }

    @Test("an unsaved sign-in does not replace a later one of another process, though two were not saved")
    func laterSignIn() async throws {
        try await TokenWorld.run { world in
            let store = PartlyBrokenStore(base: world.store)
            let (here, there) = (world.process(store: store), world.process())
            store.fail([.lock])
            for user in ["anna", "bert"] {
                await #expect(throws: SessionError.self) {
                    try await here.signIn(world.server.signIn(user, at: world.date))
                }
            }
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(here).token == "carl-1")
            #expect(await world.call(there).token == "carl-1")
            #expect(await world.call(world.process()).token == "carl-1")
        }
    }

    @Test("an unsaved sign-in does not replace one saved first, though this process knows more sessions")
    func longerMemory() async throws {
        try await TokenWorld.run { world in
            let store = PartlyBrokenStore(base: world.store)
            let here = world.process(store: store)
            for _ in 1...3 { try await here.signIn(world.server.signIn("anna", at: world.date)) }
            try await here.signOut()
            store.fail([.lock])
            await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("bert", at: world.date))
            }
            let there = world.process()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(here).token == "carl-1")
            #expect(await world.call(there).token == "carl-1")
        }
    }

    @Test(
        "an unsaved sign-in does not replace one that was saved first and cannot be read for a moment",
        arguments: [true, false]
    )
    func unreadableFirst(canSave: Bool) async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            let (here, there) = (world.process(store: store), world.process())
            try await here.restore()
            store.fail([.lock])
            await #expect(throws: SessionError.self) {
                try await here.signIn(world.server.signIn("bert", at: world.date))
            }
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.fail(canSave ? [.load] : [.load, .save])
            try await world.sleep(.seconds(60))
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(there).token == "carl-1")
            #expect(await world.call(here).token == "carl-1")
        }
    }

    @Test("a revocation goes on though the store shows the session for a while, whose end it could not note")
    func revocation() async throws {
        try await TokenWorld.run { world in
            let store = PartlyBrokenStore(base: world.store)
            _ = try await world.signedIn("anna")
            let session = world.process(store: store)
            try await session.restore()
            store.fail([.end, .lock])
            world.server.failRevocation(with: .fail(.networkConnectionLost))
            world.server.failRevocation(with: .fail(.networkConnectionLost))
            await #expect(throws: SessionError.self) { try await session.signOut() }
            try await world.sleep(.seconds(1))
            store.fail([])
            try await world.sleep(.seconds(120))
            #expect(world.server.revoked == ["anna-1"])
        }
    }

    @Test("the credential of a sign-out is revoked, though the store did not take the note of it at first")
    func unnoted() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.end])
            try? await world.process(store: store).signOut()
            try await world.sleep(.seconds(1))
            #expect(world.server.revoked == ["anna-1"])
        }
    }

    @Test("a second sign-out does not take the first one back, which is meant for whoever is stored")
    func signedOutTwice() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            let session = world.process(store: store)
            store.fail(StoreOperation.allCases)
            try? await session.signIn(world.server.signIn("bert", at: world.date))
            for _ in 1...2 { try? await session.signOut() }
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test("the user does not come back in whose place somebody has signed in, though the record could not be read")
    func unreadableReplaced() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.load, .version, .save, .end])
            let session = world.process(store: store)
            await #expect(throws: SessionError.self) {
                try await session.signIn(world.server.signIn("bert", at: world.date))
            }
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test(
        "a sign-in elsewhere after an unsaved one stays, whichever operation of the store works first",
        arguments: [[StoreOperation.lock], [.load, .version, .save]]
    )
    func later(failing: [StoreOperation]) async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.load, .version, .lock, .save])
            let here = world.process(store: store)
            if failing != [.lock] { store.fail(failing) }
            try? await here.signIn(world.server.signIn("bert", at: world.date))
            store.fail(failing)
            try await world.sleep(.seconds(60))
            let there = world.process()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            try await world.sleep(.seconds(60))
            #expect(await world.call(there).token == "carl-1")
            guard failing == [.lock] else { return }
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(here).token == "carl-1")
        }
    }

    @Test(
        "the user before does not come back when the server ends the session of a sign-in that could not be saved",
        arguments: [true, false]
    )
    func endedUnsaved(isKnown: Bool) async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            let session = world.process(store: store)
            if isKnown { try await session.restore() }
            store.fail(isKnown ? [.save, .end, .delete] : [.load, .version, .save, .end, .delete])
            try? await session.signIn(world.server.signIn("bert", at: world.date))
            world.server.end("bert-1")
            #expect(await world.call(session).token == nil)
            store.fail([])
            try await world.sleep(.seconds(60))
            let outcome = await world.call(session)
            #expect(outcome.token == nil)
            #expect(await world.call(world.process()).token == nil)
        }
    }

    @Test(
        "a sign-out that finds a session, over or not, is not meant for who signs in before the lock is free",
        arguments: [true, false]
    )
    func signOutOfRemains(hasExpired: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            if hasExpired {
                world.server.endSessions()
                #expect(await world.call(session).token == nil)
            }
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.lock])
            await #expect(throws: SessionError.self) { try await world.process(store: store).signOut() }
            let there = world.process()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(there).token == "carl-1")
        }
    }

    @Test("a sign-out needs no lock to count for the other processes, and a sign-in none to end whom it replaces")
    func withoutLock() async throws {
        for isKnown in [true, false] {
            for signsIn in [true, false] {
                try await TokenWorld.run { world in
                    _ = try await world.signedIn("anna")
                    let store = PartlyBrokenStore(base: world.store)
                    let session = world.process(store: store)
                    if isKnown { try await session.restore() }
                    store.fail([.lock, .delete, .save])
                    await #expect(throws: SessionError.self) {
                        if signsIn {
                            try await session.signIn(world.server.signIn("bert", at: world.date))
                        } else {
                            try await session.signOut()
                        }
                    }
                    #expect(try await world.process().restore() == false, "known \(isKnown), signs in \(signsIn)")
                }
            }
        }
    }

    @Test("a user signs out whose record cannot be read, by a process that has just started")
    func unreadable() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.load, .version])
            try await world.process(store: store).signOut()
            store.fail([])
            #expect(try await world.process().restore() == false)
        }
    }

    @Test("a sign-out that could not remove a damaged record is not meant for who signs in after that")
    func damagedAtFirst() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.load, .delete], with: .damaged(place: "record"))
            await #expect(throws: SessionError.self) { try await world.process(store: store).signOut() }
            let there = world.process()
            try await there.signIn(world.server.signIn("carl", at: world.date))
            store.fail([])
            try await world.sleep(.seconds(120))
            #expect(await world.call(there).token == "carl-1")
        }
    }

    @Test("a credential that could not be saved is refreshed, also while the store cannot be read")
    func refresh() async throws {
        try await TokenWorld.run { world in
            let store = PartlyBrokenStore(base: world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            store.fail([.save])
            #expect(await world.call(session).token == "anna-2")
            store.fail([.save, .load, .version])
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-2"])
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(world.process()).token == "anna-3")
        }
    }
}

/// Some of its operations fail.
private final class PartlyBrokenStore: StoreInFront {
    let base: MemoryStore
    private let failing = Locked<[StoreOperation]>([])
    private let error = Locked(CredentialStoreError.full(place: "disk"))

    init(base: MemoryStore) { self.base = base }

    func fail(_ operations: [StoreOperation], with error: CredentialStoreError = .full(place: "disk")) {
        self.error.withLock { $0 = error }
        failing.withLock { $0 = operations }
    }

    func pass(_ operation: StoreOperation) async throws {
        if failing.withLock({ $0.contains(operation) }) { throw error.withLock { $0 } }
    }
}
