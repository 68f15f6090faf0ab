import Foundation
import Nautilus

extension SharedStore {
    /// Saves a record, with the lock held.
    ///
    /// - Parameters:
    ///   - lock: The lock, which still has to be held.
    ///   - isReplacing: Whether a record of the same session is stored, as far as is known here.
    ///   - note: Called once the save has ended, even if the wait for that was given up, and before another process can
    ///     have the lock.
    /// - Returns: What is stored afterwards; it has no record if another process has ended the session, which needs no
    ///   lock. Nil when the store cannot be read.
    func save(
        _ record: Record,
        under lock: any CredentialLock,
        replacing isReplacing: Bool,
        note: @escaping @Sendable (SaveOutcome) -> Void
    ) async throws(SessionError) -> Glance? {
        try await write(under: lock) { [self] in
            let stored = try record.stored()
            do {
                try await put(stored, under: lock, replacing: isReplacing)
            } catch {
                // Looked for by a task of its own: a caller who has left ends only the save.
                await BackgroundTask.start { note(await outcome(of: record, failingWith: error)) }.value
                throw error
            }
            note(.stored(isDurable: true))
        }
        return try? await glance()
    }

    /// Whether a record is there, although its save has failed.
    private func outcome(of record: Record, failingWith error: any Error) async -> SaveOutcome {
        let error = error as? CredentialStoreError
        if let error, error.isOfDurability { return .stored(isDurable: false) }
        let glance = try? await glance()
        if let stored = glance?.stored, record.isState(of: stored) { return .stored(isDurable: false) }
        // By now another process may have ended the session, and nothing but the note of that is left.
        let isEnded = await isKnownEnded(record.session)
        if isEnded == true { return .stored(isDurable: false) }
        if glance != nil, isEnded == false { return .notStored }
        // A store's own words are relied on; with a lost connection, only the answer may be lost.
        switch error {
        case .other, nil: return .unknown
        default: return .notStored
        }
    }

    /// Saves once more, with the lock held, what is stored already.
    func save(_ stored: StoredCredential, under lock: any CredentialLock) async throws(SessionError) {
        try await write(under: lock) { [self] in try await put(stored, under: lock, replacing: true) }
    }

    /// Saves what may come back by that: if the lock is lost meanwhile, a sign-out elsewhere may remove the session and
    /// the note of its end before the record arrives.
    private func put(
        _ stored: StoredCredential,
        under lock: any CredentialLock,
        replacing isReplacing: Bool
    ) async throws {
        let latest = Locked<Glance?>(nil)
        let watching = BackgroundTask.start {
            while isReplacing, showsLatest, (try? await clock.sleep(for: .seconds(1))) != nil {
                guard !lock.isHeld, let glance = try? await glance() else { continue }
                // The record itself has just arrived.
                if !Self.isSame(glance.stored, stored) { latest.withLock { $0 = glance } }
            }
        }
        defer { watching.cancel() }
        var failure: (any Error)?
        do { try await store.save(stored, for: key) } catch { failure = error }
        if let latest = latest.withLock({ $0 }) { await restore(latest, over: stored) }
        if let failure { throw failure }
    }

    /// Restores what other processes had stored before a record arrived that was saved under a lost lock.
    private func restore(_ latest: Glance, over late: StoredCredential) async {
        guard let stored = latest.stored else {
            if !latest.hasExpired { _ = try? await end(late.session) }
            return
        }
        guard stored.session != late.session || stored.refreshCount > late.refreshCount else { return }
        guard let lock = await lockInTime() else { return }
        defer { lock.unlock() }
        guard Self.isSame((try? await glance())?.stored, late) else { return }
        try? await store.save(stored, for: key)
    }

    private static func isSame(_ stored: StoredCredential?, _ other: StoredCredential) -> Bool {
        stored?.session == other.session && stored?.refreshCount == other.refreshCount
    }
}

/// The state of a record when its save has ended.
enum SaveOutcome {
    /// It is stored; if it is not durable, it might not survive a power failure.
    case stored(isDurable: Bool)
    case notStored
    /// The save has failed, and whether the record is there could not be found out.
    case unknown
}

extension CredentialStoreError {
    /// Whether a save has failed only in making sure that the record, which is there, survives a power failure.
    var isOfDurability: Bool {
        if case .notDurable = self { true } else { false }
    }
}
