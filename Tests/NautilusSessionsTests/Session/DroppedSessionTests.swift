import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import Testing

@Suite("Sessions that are dropped before the store has all of it")
struct DroppedSessionTests {
    @Test("a sign-out that could not be stored is stored later, though its session is dropped meanwhile")
    func signOut() async throws {
        try await TokenWorld.run { world in
            let store = FullStore(world.store)
            var session: Session<ApiToken>? = world.process(store: store)
            try await session?.signIn(world.server.signIn("anna", at: world.date))

            store.isFull.withLock { $0 = true }
            try? await session?.signOut()
            session = nil
            store.isFull.withLock { $0 = false }
            try await world.sleep(.seconds(120))

            let isSignedIn = try await world.process().restore()
            #expect(!isSignedIn)
        }
    }
}

/// A store that can be read, but not written to while it is full.
private final class FullStore: CredentialStore {
    private let base: MemoryStore
    let isFull = Locked(false)

    init(_ base: MemoryStore) { self.base = base }

    private func pass() throws {
        if isFull.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? { base.load(key) }
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try pass()
        base.save(stored, for: key)
    }
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try pass()
        return base.end(session, for: key)
    }
    func delete(_ key: CredentialKey) async throws {
        try pass()
        base.delete(key)
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? { base.version(of: key) }
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { base.lock(key) }
}
