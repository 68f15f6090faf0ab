import Foundation
import Nautilus
import NautilusSessions

/// One process's view of a store that others share: its locks can be taken away, as from a process that is suspended or
/// whose lock's file a cleaner removes, and its saves can fail.
final class LosableStore: CredentialStore {
    private let base: MemoryStore
    private let held = Locked<[LosableLock]>([])
    private let afterLoad = Locked<(@Sendable () async -> Void)?>(nil)
    private let saveError = Locked<CredentialStoreError?>(nil)

    init(_ base: MemoryStore) { self.base = base }

    var showsLatest: Bool { true }

    /// Takes away the locks that are held.
    func loseLocks() {
        let held = held.withLock { held in
            defer { held = [] }
            return held
        }
        for lock in held { lock.lose() }
    }

    /// From now on every save and delete fails with this; nil: none does.
    func failSaves(with error: CredentialStoreError?) { saveError.withLock { $0 = error } }

    /// Does something between the next load and what comes of it.
    func afterNextLoad(_ work: @escaping @Sendable () async -> Void) { afterLoad.withLock { $0 = work } }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        let stored = base.load(key)
        let work = afterLoad.withLock { work in
            defer { work = nil }
            return work
        }
        await work?()
        return stored
    }

    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        if let error = saveError.withLock({ $0 }) { throw error }
        base.save(stored, for: key)
    }

    func delete(_ key: CredentialKey) async throws {
        if let error = saveError.withLock({ $0 }) { throw error }
        base.delete(key)
    }

    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? { base.end(session, for: key) }
    func version(of key: CredentialKey) async throws -> CredentialVersion? { base.version(of: key) }

    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        guard let lock = base.lock(key) else { return nil }
        let losable = LosableLock(lock)
        held.withLock { $0.append(losable) }
        return losable
    }
}

private final class LosableLock: CredentialLock {
    private let base: any CredentialLock
    private let isLost = Locked(false)

    init(_ base: any CredentialLock) { self.base = base }

    var isHeld: Bool { !isLost.withLock { $0 } }

    func lose() {
        isLost.withLock { $0 = true }
        base.unlock()
    }

    func unlock() { base.unlock() }
}
