import Foundation
import Nautilus

/// Keeps credentials for as long as the process lives: for tests, and for credentials that need not outlive it.
///
/// Whatever shares the value shares the credentials, as two processes share a ``FileStore``. Nothing it does fails or
/// waits.
public final class MemoryStore: CredentialStore {
    private struct State {
        var entries: [CredentialKey: (stored: StoredCredential, version: Int)] = [:]
        /// Counts saves of all keys, so that no version comes back after a delete.
        var saves = 0
        var lockedKeys: Set<CredentialKey> = []
        /// The sessions that have been ended, and not deleted since.
        var ended: [CredentialKey: Set<UUID>] = [:]
    }

    private let state = Locked(State())

    /// Creates an empty store.
    public init() {}

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

    /// Ends a session: its stored record is removed, and records of it that are saved later are dropped.
    @discardableResult
    public func end(_ session: UUID, for key: CredentialKey) -> StoredCredential? {
        state.withLock { state in
            state.ended[key, default: []].insert(session)
            guard let stored = state.entries[key]?.stored, stored.session == session else { return nil }
            state.entries[key] = nil
            return stored
        }
    }

    /// Whether a session has been ended, and not deleted since.
    public func isEnded(_ session: UUID, for key: CredentialKey) -> Bool {
        state.withLock { $0.ended[key]?.contains(session) ?? false }
    }

    /// Removes what is stored; nothing when nothing is.
    public func delete(_ key: CredentialKey) {
        state.withLock { ($0.entries[key], $0.ended[key]) = (nil, nil) }
    }

    /// The number of the save; nil when nothing is stored.
    public func version(of key: CredentialKey) -> CredentialVersion? {
        state.withLock { $0.entries[key].map { CredentialVersion("\($0.version)") } }
    }

    /// Takes the key's lock; nil while another holds it.
    public func lock(_ key: CredentialKey) -> (any CredentialLock)? {
        let isTaken = state.withLock { $0.lockedKeys.insert(key).inserted }
        return isTaken ? MemoryLock { [state] in state.withLock { _ = $0.lockedKeys.remove(key) } } : nil
    }
}

extension MemoryStore: Redacted {
    /// How many credentials there are.
    public var description: String { "MemoryStore(\(state.withLock { $0.entries.count }))" }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["count": state.withLock { $0.entries.count }]) }
}

/// One key's lock. It is given back once: by then another may hold it.
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
