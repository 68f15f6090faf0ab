import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// What this process knows, while the store cannot be told.
@Suite("What could not be saved counts in this process")
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
            #expect(await world.call(world.nextLaunch()).token == nil)
            store.fail([])
            try await world.sleep(.seconds(60))
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }

    @Test("nor does it overrule a later one that another process has stored, though it is the second that was not saved")
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

    @Test("a user signs out whose record cannot be read, by a process that has just started")
    func unreadable() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = PartlyBrokenStore(base: world.store)
            store.fail([.load, .version])
            try await world.process(store: store).signOut()
            store.fail([])
            #expect(try await world.nextLaunch().restore() == false)
        }
    }

    @Test("a credential that could not be saved is renewed, also while the store cannot be read")
    func renewal() async throws {
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
            #expect(world.server.renewals == ["anna-1", "anna-2"])
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

    init(base: MemoryStore) { self.base = base }

    func fail(_ operations: [StoreOperation]) { failing.withLock { $0 = operations } }

    func pass(_ operation: StoreOperation) async throws {
        if failing.withLock({ $0.contains(operation) }) { throw CredentialStoreError.full(place: "disk") }
    }
}
