import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import Testing

@Suite("A sign-in that is still being stored when its user signs out")
struct LateSignInTests {
    /// A store whose saves take twenty seconds, and which cannot be read, or end a session, while it is told so.
    private final class SlowStore: CredentialStore {
        let isReadable = Locked(true)
        let endsSessions = Locked(true)
        private let base: MemoryStore
        private let clock: ManualClock

        init(_ world: TokenWorld) {
            (base, clock) = (world.store, world.clock)
        }

        private func check(_ works: Locked<Bool>) throws {
            guard works.withLock({ $0 }) else { throw CredentialStoreError.full(place: "disk") }
        }

        func load(_ key: CredentialKey) async throws -> StoredCredential? {
            try check(isReadable)
            return base.load(key)
        }
        func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
            await BackgroundTask.start { [clock] in try? await clock.sleep(for: .seconds(20)) }.value
            base.save(stored, for: key)
        }
        func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
            try check(endsSessions)
            return base.end(session, for: key)
        }
        func delete(_ key: CredentialKey) async throws { base.delete(key) }
        func version(of key: CredentialKey) async throws -> CredentialVersion? {
            try check(isReadable)
            return base.version(of: key)
        }
        func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { base.lock(key) }
    }

    @Test("does not come back when it is stored at last, though the store is empty until then and could not end it")
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
}
