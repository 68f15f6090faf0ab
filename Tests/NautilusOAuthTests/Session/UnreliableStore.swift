import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting

/// A store in memory that fails or takes its time on demand, and counts what was asked of it.
final class UnreliableStore: CredentialStore {
    private struct State {
        var saveTime = Duration.zero
        var loadTime = Duration.zero
        var endTime = Duration.zero
        var saveError: CredentialStoreError?
        var loadError: CredentialStoreError?
        var endError: CredentialStoreError?
        var saves = 0
        var looks = 0
    }

    private let memory = MemoryStore()
    let showsLatest = true
    private let state = Locked(State())
    private let clock: ManualClock

    init(clock: ManualClock) {
        self.clock = clock
    }

    /// From now on every save and delete fails with this; nil: none does.
    func failSaves(with error: CredentialStoreError?) { state.withLock { $0.saveError = error } }
    /// From now on every look fails with this; nil: none does.
    func failLoads(with error: CredentialStoreError?) { state.withLock { $0.loadError = error } }
    /// From now on every end of a session fails with this; nil: those fail that come while saves do.
    func failEnds(with error: CredentialStoreError?) { state.withLock { $0.endError = error } }
    /// From now on every save takes this long; what is saved is there at its end, unless saves fail by then.
    func slowSaves(to duration: Duration) { state.withLock { $0.saveTime = duration } }
    /// From now on every load takes this long; it brings what was there at its beginning.
    func slowLoads(to duration: Duration) { state.withLock { $0.loadTime = duration } }
    /// From now on every end of a session takes this long, and happens then.
    func slowEnds(to duration: Duration) { state.withLock { $0.endTime = duration } }
    /// How many saves have succeeded.
    var saves: Int { state.withLock { $0.saves } }
    /// How often a version or a record was asked for.
    var looks: Int { state.withLock { $0.looks } }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        if let error = lookError() { throw error }
        let stored = memory.load(key)
        await wait(state.withLock { $0.loadTime })
        return stored
    }

    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        await wait(state.withLock { $0.saveTime })
        if let error = state.withLock({ $0.saveError }) { throw error }
        memory.save(stored, for: key)
        state.withLock { $0.saves += 1 }
        mend()
    }

    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        if let error = state.withLock({ $0.endError ?? $0.saveError }) { throw error }
        await wait(state.withLock { $0.endTime })
        return memory.end(session, for: key)
    }

    func delete(_ key: CredentialKey) async throws {
        if let error = state.withLock({ $0.saveError }) { throw error }
        memory.delete(key)
        mend()
    }

    /// Ends the damage, after a save or a delete.
    private func mend() {
        state.withLock { state in
            if case .damaged = state.loadError { state.loadError = nil }
        }
    }

    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        if let error = lookError() { throw error }
        return memory.version(of: key)
    }

    private func lookError() -> CredentialStoreError? {
        state.withLock { state in
            state.looks += 1
            return state.loadError
        }
    }

    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { memory.lock(key) }

    /// As a disk does it: whether the caller is cancelled makes no difference.
    private func wait(_ duration: Duration) async {
        guard duration > .zero else { return }
        await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
    }
}
