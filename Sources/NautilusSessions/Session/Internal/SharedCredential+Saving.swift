import Foundation
import Nautilus

extension SharedCredential {
    /// Writes to the store what it does not have yet.
    ///
    /// - Throws: ``SessionError`` when that fails; it is then tried again in the background.
    func write() async throws(SessionError) {
        guard state.withLock({ !$0.isSaved }) else { return freeKeptLock() }
        do throws(SessionError) {
            guard let lock = try await lockForWriting() else {
                // The record of a sign-out is removed as soon as the lock is free.
                if state.withLock({ !$0.isSaved }) { tryAgain() }
                return
            }
            defer { release(lock) }
            switch state.withLock({ $0.unsaved }) {
            case nil: try await saveAgain(under: lock)
            case .refresh: try await saveRefresh(under: lock)
            case .signIn(let record): try await saveSignIn(record.session, under: lock)
            case .signOut(let target): try await remove(target, under: lock)
            case .expiry(let record): try await expire(record, under: lock)
            }
        } catch {
            storeFailed(error)
            // A sign-out has nothing left to do about a record that is left alone.
            if state.withLock({ !$0.isSaved }) { tryAgain() }
            throw error
        }
    }

    /// Saves the result of a refresh with the lock held, unless the session has been ended or refreshed elsewhere.
    func saveRefresh(under lock: any CredentialLock) async throws(SessionError) {
        let failure = await adoptEndWhileUnsaved()
        let (unsaved, hasLostLock) = state.withLock { ($0.unsaved, $0.hasLostLock) }
        // A damaged record is replaced. With any other failure after a lost lock, it is not known whose record would be
        // replaced.
        if let failure, hasLostLock, !failure.isDamage { throw failure }
        guard case .refresh(let record) = unsaved else { return }
        try await save(record, under: lock)
    }

    /// Saves a record with the lock held, and notes that the store has it.
    func save(_ record: Record, under lock: any CredentialLock) async throws(SessionError) {
        let isSignIn = if case .signIn = state.withLock({ $0.unsaved }) { true } else { false }
        let glance = try await store.save(record, under: lock, replacing: !isSignIn) { [weak self] in
            self?.note($0, of: record)
        }
        state.withLock { state in
            // If somebody has signed in or out here meanwhile, that is not written yet, and stays the known state.
            guard let known = state.record, known.session == record.session else { return }
            // The lock was lost, and the credential has been refreshed since: that is what has to be stored.
            guard known.refreshCount <= record.refreshCount else {
                if state.unsaved == nil {
                    (state.unsaved, state.version, state.hasLostLock) = (.refresh(known), .unseen, true)
                }
                return
            }
            let isStored = glance.map { $0.stored.map(record.isState) ?? false } ?? true
            // If another process has ended the session meanwhile, the next look at the store has to say so.
            let version = if let glance, isStored { glance.version } else { CredentialVersion.unseen }
            (state.record, state.version, state.isKnown) = (record, version, isStored)
            state.lastNumber = max(state.lastNumber, record.number)
            state.undurable = nil
            switch state.unsaved {
            case .signIn, .refresh: (state.unsaved, state.overruled, state.hasLostLock) = (nil, [], false)
            case .signOut, .expiry, nil: break
            }
        }
        freeKeptLock()
        if state.withLock({ !$0.isSaved }) { tryAgain() }
        if glance != nil { storeWorked() }
    }

    /// Notes what has become of a record, however long after the wait for its save was given up.
    private func note(_ outcome: SaveOutcome, of record: Record) {
        switch outcome {
        case .stored(let isDurable): noteStored(record.session, refreshCount: record.refreshCount, isDurable: isDurable)
        case .notStored: break
        case .unknown:
            state.withLock { state in
                guard state.record?.session == record.session else { return }
                (state.mayBeStored, state.undurable) = (record.session, record.session)
            }
            tryAgain()
        }
    }

    /// Notes that the store has a sign-in, however its save has ended. What other processes do from here on comes after
    /// it; saving it once more would overwrite theirs.
    ///
    /// - Parameters:
    ///   - refreshCount: How often the stored credential has been refreshed.
    ///   - isDurable: Whether the record would survive a power failure; if not, it is saved again.
    func noteStored(_ session: UUID, refreshCount: Int, isDurable: Bool) {
        state.withLock { state in
            if !isDurable, state.record?.session == session { state.undurable = session }
            guard case .signIn(let record) = state.unsaved, record.session == session else { return }
            (state.isNumbered, state.lastNumber) = (true, max(state.lastNumber, record.number))
            (state.overruled, state.version) = ([], .unseen)
            if record.refreshCount > refreshCount {
                // A credential refreshed meanwhile is still to be saved, and another process may have refreshed as
                // well.
                (state.unsaved, state.hasLostLock) = (.refresh(record), true)
            } else {
                state.unsaved = nil
            }
        }
        if !isDurable { tryAgain() }
        freeKeptLock()
    }

    /// Saves once more, with the lock held, what is stored of a sign-in whose save has failed, unless something else
    /// has taken its place.
    func saveAgain(under lock: any CredentialLock) async throws(SessionError) {
        guard let session = state.withLock({ $0.undurable }) else { return }
        do throws(SessionError) {
            if let stored = try await store.glance().stored, stored.session == session {
                try await store.save(stored, under: lock)
            }
        } catch {
            try await saveAgain(session, over: error, under: lock)
        }
        state.withLock { if $0.undurable == session { $0.undurable = nil } }
        storeWorked()
    }

    /// Saves the record of a session once more in the place of one that cannot be read: a damaged one. Any other has
    /// been saved by somebody else since.
    private func saveAgain(
        _ session: UUID,
        over error: SessionError,
        under lock: any CredentialLock
    ) async throws(SessionError) {
        switch error.kind {
        case .store(.sealedOtherwise), .store(.foreign), .store(.newerFormat): break
        case .store(.damaged):
            guard let record = state.withLock({ $0.record }), record.session == session else { break }
            try await save(record, under: lock)
        default: throw error
        }
    }

    /// Keeps in memory a record that could not be saved; it overrules the store until it is saved.
    ///
    /// - Parameter isStored: Whether it is stored all the same, and just has to be saved once more. Default: false.
    func keep(_ record: Record, isStored: Bool = false) {
        state.withLock { state in
            guard state.record?.session == record.session else { return }
            state.record = record
            guard !isStored else {
                (state.unsaved, state.overruled, state.hasLostLock) = (nil, [], false)
                (state.undurable, state.version, state.isKnown) = (record.session, .unseen, true)
                return
            }
            switch state.unsaved {
            // A sign-in stays a sign-in, since the store still has the session before.
            case .signIn: state.unsaved = .signIn(record)
            case .refresh, .signOut, .expiry, nil: state.unsaved = .refresh(record)
            }
        }
    }

    func isOverruled(_ session: UUID) -> Bool { state.withLock { $0.overruled.contains(session) } }

    /// Gives the lock back, unless what it protects is still unsaved.
    func release(_ lock: any CredentialLock) {
        if !keeps(lock) { store.unlock(lock) { [self] in keeps(lock) } }
    }

    /// Keeps the lock while no other process may write.
    private func keeps(_ lock: any CredentialLock) -> Bool {
        state.withLock { state in
            guard state.needsLock, lock.isHeld else { return false }
            state.keptLock = lock
            return true
        }
    }

    /// Gives back the lock that was kept, once nothing is unsaved.
    private func freeKeptLock() {
        let lock = state.withLock { state -> (any CredentialLock)? in
            guard state.unsaved == nil else { return nil }
            defer { state.keptLock = nil }
            return state.keptLock
        }
        if let lock { store.unlock(lock) }
    }

    /// The lock that is kept; nil when none is kept, it is in use, or it has been lost.
    func takeKeptLock() -> (any CredentialLock)? {
        let lock = state.withLock { state in
            defer { state.keptLock = nil }
            return state.keptLock
        }
        guard let lock, !lock.isHeld else { return lock }
        state.withLock { $0.hasLostLock = true }
        lock.unlock()
        return nil
    }

    /// The lock; nil when another task of this process has meanwhile written everything, or when others hold the lock
    /// and all that is left is to remove the record of a sign-out.
    private func lockForWriting() async throws(SessionError) -> (any CredentialLock)? {
        let locking = try await store.lock(orKept: takeKeptLock) { () throws(SessionError) -> Void? in
            self.state.withLock { $0.isSaved } || self.isNotedForAll ? () : nil
        }
        guard case .locked(let lock) = locking else { return nil }
        return lock
    }

    /// Retries writing in the background until it works, even if the session's object is dropped meanwhile: a user who
    /// has signed out must not be signed in again by the next object.
    func tryAgain() {
        let isFirst = state.withLock { state in
            defer { state.isTryingAgain = true }
            return !state.isTryingAgain
        }
        guard isFirst else { return }
        BackgroundTask.start { [self] in
            for retry in 1... {
                // The wait was cancelled.
                guard (try? await store.pause(beforeRetry: retry)) != nil else { break }
                revokeIfRefreshed(await endForAll())
                // Another task may meanwhile have removed the record along with the note of the end, which `endForAll`
                // has just put back.
                if state.withLock({ $0.isSaved }) {
                    freeKeptLock()
                    removeRemains()
                }
                _ = try? await write()
                let isDone = state.withLock { state in
                    if state.isSaved { state.isTryingAgain = false }
                    return state.isSaved
                }
                if isDone { return storeWorked() }
            }
            state.withLock { $0.isTryingAgain = false }
        }
    }
}

extension SessionError.Kind {
    /// Whether a save has failed only in making sure that the record, which is there, survives a power failure.
    var isOfDurability: Bool {
        if case .store(let error) = self { error.isOfDurability } else { false }
    }
}

extension SessionError {
    /// Whether the record is damaged, so that nobody can read it.
    var isDamage: Bool {
        if case .store(.damaged) = kind { true } else { false }
    }

    /// Whether the record is neither replaced nor removed.
    var isLeftAlone: Bool {
        switch kind {
        case .store(.foreign), .store(.newerFormat): true
        default: false
        }
    }
}
