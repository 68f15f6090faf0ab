import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Sessions that are dropped before the store has all of it")
struct DroppedSessionTests {
    @Test("a sign-out that could not be stored is stored later, though its session is dropped meanwhile")
    func signOut() async throws {
        try await TokenWorld.run { world in
            let store = FullStore(world.store)
            _ = try await Self.signedOut(in: world, over: store)
            store.isFull.withLock { $0 = false }
            try await world.sleep(.seconds(120))

            let isSignedIn = try await world.process().restore()
            #expect(!isSignedIn)
        }
    }

    @Test("a sign-out that could not be stored counts for the next session of the process", arguments: [true, false])
    func nextSession(isDropped: Bool) async throws {
        try await TokenWorld.run { world in
            let (store, process) = (FullStore(world.store), SimulatedProcess())
            var session: Session<ApiToken>? = try await Self.signedOut(in: world, over: store, process)
            if isDropped { session = nil }

            let next = world.process(store: store, in: process)
            #expect(try await next.restore() == false)
            #expect(await world.call(next).token == nil)
            withExtendedLifetime(session) {}
        }
    }

    @Test("a sign-out that could not be stored counts for the other sessions of the process at once")
    func otherSession() async throws {
        try await TokenWorld.run { world in
            let (store, process) = (FullStore(world.store), SimulatedProcess())
            let session = world.process(store: store, in: process)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let other = world.process(store: store, in: process)
            #expect(await world.call(other).token == "anna-1")
            store.isFull.withLock { $0 = true }
            try? await session.signOut()
            #expect(other.id == nil)
            #expect(await world.call(other).token == nil)

            // Whoever signs in next is followed as ever.
            store.isFull.withLock { $0 = false }
            try await session.signIn(world.server.signIn("bert", at: world.date))
            try await other.restore()
            #expect(await world.call(other).token == "bert-1")
        }
    }

    @Test("a sign-out that could not be stored is unknown in the next simulation, which is another process")
    func nextSimulation() async throws {
        let store = MemoryStore()
        for isSignedIn in [false, true] {
            try await TokenWorld.run { world in
                let full = FullStore(store)
                let session = Session(key: world.key, rules: world.rules(), store: full)
                #expect(try await session.restore() == isSignedIn)
                if isSignedIn { return }
                try await session.signIn(world.server.signIn("anna", at: world.date))
                full.isFull.withLock { $0 = true }
                try? await session.signOut()
                let next = Session(key: world.key, rules: world.rules(), store: full)
                #expect(try await next.restore() == false)
            }
        }
    }

    /// A session whose user has signed out while the store took nothing, which it still does not.
    private static func signedOut(
        in world: TokenWorld,
        over store: FullStore,
        _ process: SimulatedProcess = SimulatedProcess()
    ) async throws -> Session<ApiToken> {
        let session = world.process(store: store, in: process)
        try await session.signIn(world.server.signIn("anna", at: world.date))
        store.isFull.withLock { $0 = true }
        try? await session.signOut()
        return session
    }
}

/// A store that can be read, but not written to while it is full.
private struct FullStore: StoreInFront {
    let base: MemoryStore
    let isFull = Locked(false)

    init(_ base: MemoryStore) { self.base = base }

    func pass(_ operation: StoreOperation) async throws {
        guard [.save, .end, .delete].contains(operation), isFull.withLock({ $0 }) else { return }
        throw CredentialStoreError.full(place: "disk")
    }
}
