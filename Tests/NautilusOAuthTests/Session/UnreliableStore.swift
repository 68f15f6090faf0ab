import Nautilus
import NautilusOAuth

/// A store in memory that fails on demand, and counts what was asked of it.
final class UnreliableStore: CredentialStore {
    private struct State {
        var saveError: CredentialStoreError?
        var loadError: CredentialStoreError?
        var saves = 0
        var locks = 0
        var held = 0
    }

    private let memory = MemoryStore()
    private let state = Locked(State())

    /// From now on every save and delete fails with this; nil: none does.
    func failSaves(with error: CredentialStoreError?) { state.withLock { $0.saveError = error } }
    /// From now on every look fails with this; nil: none does.
    func failLoads(with error: CredentialStoreError?) { state.withLock { $0.loadError = error } }
    /// How many saves have succeeded.
    var saves: Int { state.withLock { $0.saves } }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        if let error = state.withLock({ $0.loadError }) { throw error }
        return memory.load(key)
    }

    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        if let error = state.withLock({ $0.saveError }) { throw error }
        memory.save(stored, for: key)
        state.withLock { $0.saves += 1 }
    }

    func delete(_ key: CredentialKey) async throws {
        if let error = state.withLock({ $0.saveError }) { throw error }
        memory.delete(key)
    }

    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        if let error = state.withLock({ $0.loadError }) { throw error }
        return memory.version(of: key)
    }

    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { memory.lock(key) }
}
