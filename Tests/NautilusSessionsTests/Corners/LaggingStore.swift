import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport

/// One process's view of a store over a database with copies: a read may show what was stored some seconds before.
final class LaggingStore: StoreInFront {
    /// What was stored, and when: of all processes.
    final class History: Sendable {
        private let states = Locked<[(time: Duration, stored: StoredCredential?, version: CredentialVersion?)]>([])
        private let store: MemoryStore
        let clock: ManualClock

        init(_ store: MemoryStore, _ clock: ManualClock) { (self.store, self.clock) = (store, clock) }

        func note(_ key: CredentialKey) {
            let state = (clock.now.offset, store.load(key), store.version(of: key))
            states.withLock { $0.append(state) }
        }

        func state(at time: Duration) -> (stored: StoredCredential?, version: CredentialVersion?) {
            states.withLock { $0.last { $0.time <= time } }.map { ($0.stored, $0.version) } ?? (nil, nil)
        }
    }

    let base: UnrulyStore
    let showsLatest = false
    private let history: History
    private let random: SeededRandomSource
    private let lag: Duration
    private let isLocked = Locked(false)
    /// The moment that was shown last.
    private let latest = Locked(Duration.zero)

    init(_ base: UnrulyStore, _ history: History, _ random: SeededRandomSource, lag: Duration) {
        (self.base, self.history, self.random, self.lag) = (base, history, random, lag)
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        let stored = try await base.load(key)
        return shown().map { history.state(at: $0).stored } ?? stored
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        let version = try await base.version(of: key)
        return shown().map { history.state(at: $0).version } ?? version
    }
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        defer { history.note(key) }
        try await base.save(stored, for: key)
    }
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        defer { history.note(key) }
        return try await base.end(session, for: key)
    }
    func delete(_ key: CredentialKey) async throws {
        defer { history.note(key) }
        try await base.delete(key)
    }

    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        guard let lock = try await base.lock(key) else { return nil }
        isLocked.withLock { $0 = true }
        return NotedLock(lock, isLocked)
    }

    /// The moment of which a read shows what was stored; nil for now. It is never before the one that was shown last, and
    /// who holds the lock reads what was stored last.
    private func shown() -> Duration? {
        let now = history.clock.now.offset
        let isBehind = !isLocked.withLock { $0 } && base.isInTrouble && random.nextFraction() < 0.5
        return latest.withLock { latest in
            latest = max(latest, isBehind ? now - lag * random.nextFraction() : now)
            return latest == now ? nil : latest
        }
    }
}

/// A lock that tells when it is given back.
private final class NotedLock: CredentialLock {
    private let base: any CredentialLock
    private let isLocked: Locked<Bool>
    private let isGivenBack = Locked(false)

    init(_ base: any CredentialLock, _ isLocked: Locked<Bool>) { (self.base, self.isLocked) = (base, isLocked) }

    deinit { unlock() }

    var isHeld: Bool { base.isHeld }

    func unlock() {
        // Once: by then another may hold it.
        let isFirst = isGivenBack.withLock { isGivenBack in
            defer { isGivenBack = true }
            return !isGivenBack
        }
        guard isFirst else { return }
        isLocked.withLock { $0 = false }
        base.unlock()
    }
}
