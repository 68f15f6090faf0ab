import Foundation
import NautilusSessions

/// What a store is asked to do.
package enum StoreOperation: CaseIterable, Sendable {
    case version, load, save, end, delete, lock
}

/// A store in front of another one: each thing that is asked of it passes here first, where it may wait or fail.
package protocol StoreInFront: CredentialStore {
    associatedtype Base: CredentialStore
    var base: Base { get }
    /// Waits, fails, or does nothing, which is the default; then the base is asked.
    func pass(_ operation: StoreOperation) async throws
}

extension StoreInFront {
    package func pass(_ operation: StoreOperation) async throws {}

    package var showsLatest: Bool { base.showsLatest }

    package func load(_ key: CredentialKey) async throws -> StoredCredential? {
        try await pass(.load)
        return try await base.load(key)
    }
    package func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try await pass(.save)
        try await base.save(stored, for: key)
    }
    package func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await pass(.end)
        return try await base.end(session, for: key)
    }
    package func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool {
        try await base.isEnded(session, for: key)
    }
    package func delete(_ key: CredentialKey) async throws {
        try await pass(.delete)
        try await base.delete(key)
    }
    package func version(of key: CredentialKey) async throws -> CredentialVersion? {
        try await pass(.version)
        return try await base.version(of: key)
    }
    package func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        try await pass(.lock)
        return try await base.lock(key)
    }
}
