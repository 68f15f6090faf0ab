import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting

/// One process's view of a store that others share: each of its operations fares as a test says, and its locks can be
/// taken away.
final class FaultStore: CredentialStore {
    enum Operation: Sendable { case version, load, isEnded, save, end, delete, lock }

    /// How one operation fares.
    struct Fate: Sendable {
        /// The time before it happens, and the time until that is told; cancellation makes no difference.
        var before = Duration.zero
        var after = Duration.zero
        var happens = true
        var error: CredentialStoreError?

        static let ok = Fate()
        /// Fails and does nothing.
        static func fails(_ error: CredentialStoreError = .full(place: "disk")) -> Fate {
            Fate(happens: false, error: error)
        }
        /// Happens, and then says that it has failed.
        static func lost(_ error: CredentialStoreError = .other(type: "ConnectionLost")) -> Fate { Fate(error: error) }
    }

    let showsLatest: Bool
    private let base: LosableStore
    private let memory: MemoryStore
    private let clock: ManualClock
    private let fate = Locked<@Sendable (Operation) -> Fate>({ _ in .ok })
    private let counts = Locked<[Operation: Int]>([:])

    init(_ world: TokenWorld, showsLatest: Bool = true) {
        (memory, clock, self.showsLatest) = (world.store, world.clock, showsLatest)
        base = LosableStore(world.store)
    }

    /// From now on, operations fare like this.
    func set(_ fate: @escaping @Sendable (Operation) -> Fate) { self.fate.withLock { $0 = fate } }

    /// From now on, everything works.
    func mend() { set { _ in .ok } }

    /// From now on, nothing that is read can be.
    func failReads(and other: @escaping @Sendable (Operation) -> Fate = { _ in .ok }) {
        set { operation in
            switch operation {
            case .version, .load, .isEnded: .fails(.notPermitted(place: "record"))
            case .save, .end, .delete, .lock: other(operation)
            }
        }
    }

    /// How often this has happened so far.
    func count(of operation: Operation) -> Int { counts.withLock { $0[operation, default: 0] } }

    func loseLocks() { base.loseLocks() }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        try await run(.load, or: nil) { memory.load(key) }
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        try await run(.version, or: nil) { memory.version(of: key) }
    }
    func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool {
        try await run(.isEnded, or: false) { await memory.isEnded(session, for: key) }
    }
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try await run(.save, or: ()) { memory.save(stored, for: key) }
    }
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await run(.end, or: nil) { memory.end(session, for: key) }
    }
    func delete(_ key: CredentialKey) async throws {
        try await run(.delete, or: ()) { memory.delete(key) }
    }
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        try await run(.lock, or: nil) { try await base.lock(key) }
    }

    private func run<Value: Sendable>(
        _ operation: Operation,
        or none: Value,
        _ work: () async throws -> Value
    ) async throws -> Value {
        let fate = fate.withLock { $0 }(operation)
        await sleep(fate.before)
        var value = none
        if fate.happens {
            counts.withLock { $0[operation, default: 0] += 1 }
            value = try await work()
        }
        await sleep(fate.after)
        if let error = fate.error { throw error }
        return value
    }

    private func sleep(_ duration: Duration) async {
        guard duration > .zero else { return }
        await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
    }
}

extension TokenWorld {
    /// The value of the stored token; nil when there is none.
    var storedToken: String? { (try? store.load(key)?.credential(as: ApiToken.self))?.value }

    /// The names of a session's events that are about its store, from now on.
    func storeEvents(of session: Session<ApiToken>) -> Locked<[String]> {
        let names = Locked<[String]>([])
        let events = session.events
        BackgroundTask.start {
            for await event in events {
                switch event {
                case .storeFailed: names.withLock { $0.append("failed") }
                case .storeRecovered: names.withLock { $0.append("recovered") }
                default: break
                }
            }
        }
        return names
    }
}
