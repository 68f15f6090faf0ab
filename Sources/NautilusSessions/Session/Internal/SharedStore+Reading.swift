import Foundation
import Nautilus

/// The knowledge of how promptly a store can be read.
struct OverdueReading: Sendable {
    /// Whether the last look was given up, and none has ended since.
    var isOverdue = false
    /// The one look that is made on behalf of all callers. It ends when the look does, or when a caller would have
    /// waited too long; nil while there is none.
    var nextLook: Task<Void, Never>?
}

extension SharedStore {
    /// The stored record, its credential still as bytes, and its version; both nil when nothing is stored.
    struct Glance: Sendable {
        let stored: StoredCredential?
        let version: CredentialVersion?
        /// The stored session if the server has ended it, and nil otherwise; then ``stored`` is nil.
        let expired: UUID?

        init(_ stored: StoredCredential?, _ version: CredentialVersion?) {
            let hasExpired = stored?.hasExpired ?? false
            expired = hasExpired ? stored?.session : nil
            (self.stored, self.version) = (hasExpired ? nil : stored, version)
        }

        /// Whether what is stored is a session that the server has ended.
        var hasExpired: Bool { expired != nil }

        /// The stored record, decoded.
        ///
        /// - Parameter session: The session of this process. Its end is reported even if the session that has replaced
        ///   it cannot be decoded here. Default: nil, none.
        /// - Throws: ``SessionError`` of kind ``SessionError/Kind/store(_:)``, with
        ///   ``CredentialStoreError/undecodable(type:)``.
        func look(endingOf session: UUID? = nil) throws(SessionError) -> Snapshot {
            do throws(CredentialStoreError) {
                var record: Record?
                if let stored { record = try Record(stored) }
                return Snapshot(stored: record, version: version, hasExpired: hasExpired)
            } catch {
                if let session, stored?.session != session { return Snapshot(isOfAnother: true) }
                throw SessionError(.store(error))
            }
        }
    }

    /// The stored record, decoded, and its version; both nil when nothing is stored.
    struct Snapshot: Sendable {
        var stored: Record?
        var version: CredentialVersion?
        /// Whether what is stored is a session that the server has ended; then ``stored`` is nil.
        var hasExpired = false
        /// Whether another session is stored whose credential cannot be decoded here; then ``stored`` is nil.
        var isOfAnother = false

        /// Whether the store shows what it had before; then ``stored`` is what is known here.
        var isBehind = false

        /// Whether nobody is signed in, because somebody has signed out or nobody ever signed in.
        var isSignOut: Bool { stored == nil && !hasExpired && !isOfAnother }
    }

    /// The version now, from a store that can answer at once.
    ///
    /// - Returns: Nil when the store cannot answer at once, or cannot be read.
    func promptVersion() -> CredentialVersion?? {
        guard let store = store as? any PromptStore else { return nil }
        do { return .some(try store.promptVersion(of: key)) } catch { return nil }
    }

    /// The session that is stored now, from a store that can answer at once.
    ///
    /// - Returns: Nil when the store cannot answer at once, or the record cannot be read here.
    func promptSession() -> UUID?? {
        guard let store = store as? any PromptStore else { return nil }
        do {
            guard let stored = try store.promptLoad(key), !stored.hasExpired else { return .some(nil) }
            return try Record(stored).session
        } catch {
            return nil
        }
    }

    /// The record to sign out from, whether or not it can be used here, from a store that can answer at once.
    ///
    /// - Returns: Nil when the store cannot answer at once, or cannot be read.
    func promptGlanceToEnd() -> Glance? {
        guard let store = store as? any PromptStore else { return nil }
        do {
            let version = try store.promptVersion(of: key)
            return Glance(try store.promptLoadToEnd(key), version)
        } catch {
            return nil
        }
    }

    func version() async throws(SessionError) -> CredentialVersion? {
        // Called before every attempt, so it should not cost a task.
        if let store = store as? any PromptStore {
            return try await translated { try await store.version(of: key) }
        }
        return try await read { [store, key] in try await store.version(of: key) }
    }

    /// Whether the store says that nothing is stored.
    func isEmpty() async -> Bool {
        do throws(SessionError) { return try await version() == nil } catch { return false }
    }

    /// Loads and decodes the stored record; ends at once when the task is cancelled.
    ///
    /// - Parameter session: As for ``Glance/look(endingOf:)``.
    func look(endingOf session: UUID? = nil) async throws(SessionError) -> Snapshot {
        do throws(SessionError) {
            return try await glance(endingWhenCancelled: true).look(endingOf: session)
        } catch {
            guard let session, await isOver(session, where: error) else { throw error }
            return Snapshot(isOfAnother: true)
        }
    }

    /// Whether a session is over though the record cannot be read: the record belongs to another session, or the end is
    /// noted beside it.
    private func isOver(_ session: UUID, where error: SessionError) async -> Bool {
        switch error.kind {
        // The record is encrypted with another key, but its session can be read.
        case .store(.sealedOtherwise(_, let other?)) where other != session: return true
        case .store: break
        default: return false
        }
        return await isEnded(session)
    }

    /// Whether the end of a session is noted; false where that cannot be told.
    func isEnded(_ session: UUID) async -> Bool { await isKnownEnded(session) ?? false }

    /// Whether the end of a session is noted; nil where that cannot be told.
    func isKnownEnded(_ session: UUID) async -> Bool? {
        try? await limited { [store, key] in try await store.isEnded(session, for: key) }
    }

    /// Whether the end of a session is noted, in a store that can answer at once; false in any other.
    func isEndedPromptly(_ session: UUID) -> Bool {
        (try? (store as? any PromptStore)?.promptIsEnded(session, for: key)) ?? false
    }

    /// Loads the stored record, whether or not its credential can be decoded here: enough to end it, or to replace it.
    func glance(endingWhenCancelled endsWhenCancelled: Bool = false) async throws(SessionError) -> Glance {
        // The version first: if the record changes in between, the version is too old, and the record is read again.
        if let store = store as? any PromptStore {
            // The session that `promptSession` tells when a call begins must be the one found here, or the two may
            // be of different users.
            return try await translated {
                let version = try store.promptVersion(of: key)
                return Glance(try store.promptLoad(key), version)
            }
        }
        return try await read(endingWhenCancelled: endsWhenCancelled) { [store, key] in
            let version = try await store.version(of: key)
            return Glance(try await store.load(key), version)
        }
    }
}

extension SharedStore {
    /// The longest that a caller waits for a store that was overdue: enough for a store that works again, and bearable.
    private var lookLimit: Duration { .seconds(1) }

    /// Looks at the store within the time limit.
    ///
    /// Once a look has been given up, a single look replaces those of all callers until it ends: every attempt of a
    /// call looks, and each would otherwise wait for the whole limit. Callers wait for it only during its first second,
    /// so that they notice when the store works again.
    func read<Value: Sendable>(
        endingWhenCancelled endsWhenCancelled: Bool = true,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws(SessionError) -> Value {
        if overdue.withLock({ $0.isOverdue }) {
            let nextLook = nextLook()
            _ = await wait(atMost: lookLimit, endingWhenCancelled: endsWhenCancelled, isLook: endsWhenCancelled) {
                await nextLook.value
            }
            guard !overdue.withLock({ $0.isOverdue }) else {
                throw SessionError(endsWhenCancelled && Task.isCancelled ? .cancelled : .storeTimeout(limit))
            }
        }
        do throws(SessionError) {
            return try await limited(endingWhenCancelled: endsWhenCancelled, isLook: endsWhenCancelled, work)
        } catch {
            guard case .storeTimeout = error.kind else { throw error }
            overdue.withLock { $0.isOverdue = true }
            throw error
        }
    }

    private func nextLook() -> Task<Void, Never> {
        overdue.withLock { reading in
            if let nextLook = reading.nextLook { return nextLook }
            let look = BackgroundTask.start { [overdue, store, key] in
                let hasEnded = await wait(atMost: limit) {
                    // Either may hang. Failures are ignored here; the next caller's own look reports them.
                    _ = try? await store.version(of: key)
                    _ = try? await store.load(key)
                    return true
                }
                overdue.withLock { $0 = OverdueReading(isOverdue: hasEnded == nil) }
            }
            let nextLook = BackgroundTask.start { _ = await wait(atMost: lookLimit) { await look.value } }
            reading.nextLook = nextLook
            return nextLook
        }
    }
}
