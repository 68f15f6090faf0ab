import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting

/// One process's view of a store that all share: while there is trouble, each thing asked of it may fail, take seconds, or
/// hang for a minute and happen after all.
final class UnrulyStore: CredentialStore {
    private let base: MemoryStore
    private let clock: ManualClock
    private let random: SeededRandomSource
    private let isTroubled = Locked(false)
    private let isBroken = Locked(false)

    init(_ world: TokenWorld) {
        (base, clock, random) = (world.store, world.clock, world.random)
    }

    func trouble(_ isTroubled: Bool) { self.isTroubled.withLock { $0 = isTroubled } }
    /// Has everything fail.
    func breakDown(_ isBroken: Bool) { self.isBroken.withLock { $0 = isBroken } }

    private func pass() async throws {
        if isBroken.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
        guard isTroubled.withLock({ $0 }) else { return }
        switch random.nextFraction() {
        case ..<0.15: throw CredentialStoreError.full(place: "disk")
        case ..<0.35: await wait(.seconds(5) * random.nextFraction())
        case ..<0.5: await wait(.seconds(20) + .seconds(60) * random.nextFraction())
        default: break
        }
    }

    /// As a disk does it: whether the caller is cancelled makes no difference.
    private func wait(_ duration: Duration) async {
        await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        try await pass()
        return base.load(key)
    }
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try await pass()
        base.save(stored, for: key)
    }
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await pass()
        return base.end(session, for: key)
    }
    func delete(_ key: CredentialKey) async throws {
        try await pass()
        base.delete(key)
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        try await pass()
        return base.version(of: key)
    }
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        try await pass()
        return base.lock(key)
    }
}
