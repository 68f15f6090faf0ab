import Foundation
import Nautilus

/// A store that keeps credentials for as long as the process lives: for tests, and for credentials that need not
/// outlive it.
///
/// Everyone who shares this object shares its credentials, as two processes share a ``FileStore``. Its operations never
/// fail or wait.
public final class MemoryStore: CredentialStore {
    private struct State {
        var entries: [CredentialKey: (stored: StoredCredential, version: Int)] = [:]
        /// Counts the saves of all keys, so that no version recurs after a delete.
        var saves = 0
        var lockedKeys: Set<CredentialKey> = []
        /// The sessions that have been ended since the last delete of their key.
        var ended: [CredentialKey: Set<UUID>] = [:]
    }

    private let state = Locked(State())

    /// Creates an empty store.
    public init() {}

    /// True.
    public var showsLatest: Bool { true }

    /// The stored record; nil when there is none.
    public func load(_ key: CredentialKey) -> StoredCredential? {
        state.withLock { $0.entries[key]?.stored }
    }

    /// Replaces what is stored.
    public func save(_ stored: StoredCredential, for key: CredentialKey) {
        state.withLock { state in
            guard state.ended[key]?.contains(stored.session) != true else { return }
            state.saves += 1
            state.entries[key] = (stored, state.saves)
        }
    }

    /// Ends a session: removes its stored record, and drops records of it that are saved later.
    @discardableResult
    public func end(_ session: UUID, for key: CredentialKey) -> StoredCredential? {
        state.withLock { state in
            state.ended[key, default: []].insert(session)
            guard let stored = state.entries[key]?.stored, stored.session == session else { return nil }
            state.entries[key] = nil
            return stored
        }
    }

    // Asynchronous, since asynchronous code would otherwise get the protocol's default.
    /// Whether a session has been ended since the last delete of the key.
    public func isEnded(_ session: UUID, for key: CredentialKey) async -> Bool {
        promptIsEnded(session, for: key)
    }

    /// The same, without waiting.
    func promptIsEnded(_ session: UUID, for key: CredentialKey) -> Bool {
        state.withLock { $0.ended[key]?.contains(session) ?? false }
    }

    /// Removes what is stored; does nothing when nothing is.
    public func delete(_ key: CredentialKey) {
        state.withLock { ($0.entries[key], $0.ended[key]) = (nil, nil) }
    }

    /// The number of the save that stored the record; nil when nothing is stored.
    public func version(of key: CredentialKey) -> CredentialVersion? {
        state.withLock { $0.entries[key].map { CredentialVersion("\($0.version)") } }
    }

    /// Takes the key's lock; nil while another holder has it.
    public func lock(_ key: CredentialKey) -> (any CredentialLock)? {
        let isTaken = state.withLock { $0.lockedKeys.insert(key).inserted }
        return isTaken ? MemoryLock { [state] in state.withLock { _ = $0.lockedKeys.remove(key) } } : nil
    }
}

extension MemoryStore: Redacted {
    /// How many credentials there are.
    public var description: String { "MemoryStore(\(state.withLock { $0.entries.count }))" }
}

/// One key's lock. A second release does nothing, since another may hold the lock by then.
private final class MemoryLock: CredentialLock {
    private let release: Locked<(@Sendable () -> Void)?>

    init(release: @escaping @Sendable () -> Void) {
        self.release = Locked(release)
    }

    deinit { unlock() }

    func unlock() {
        let release = self.release.withLock { release in
            defer { release = nil }
            return release
        }
        release?()
    }
}
