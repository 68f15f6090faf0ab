import Foundation
import Nautilus

extension SharedCredential {
    /// Writes to the store what it does not have yet.
    ///
    /// - Throws: ``SessionError`` when that fails; it is then tried again in the background.
    func write() async throws(SessionError) {
        guard state.withLock({ $0.unsaved != nil }) else { return }
        do throws(SessionError) {
            guard let lock = try await lockForWriting() else { return }
            defer { release(lock) }
            switch state.withLock({ $0.unsaved }) {
            case nil: break
            case .renewal: try await saveRenewal(under: lock)
            case .signIn(let record): try await saveSignIn(record.session, under: lock)
            case .signOut(let target): try await remove(target, under: lock)
            case .expiry(let record): try await expire(record, under: lock)
            }
        } catch {
            storeFailed(error)
            // A sign-out has nothing left to do about a record that is left alone.
            if state.withLock({ $0.unsaved != nil }) { tryAgain() }
            throw error
        }
    }

    /// Saves the result of a renewal with the lock held, unless the session has been ended or renewed elsewhere.
    private func saveRenewal(under lock: any CredentialLock) async throws(SessionError) {
        let failure = await heedEndWhileUnsaved()
        let (unsaved, hasLostLock) = state.withLock { ($0.unsaved, $0.hasLostLock) }
        // A damaged record is replaced. With any other failure after a lost lock, it is not known whose record would be
        // replaced.
        if let failure, hasLostLock, !failure.isDamage { throw failure }
        guard case .renewal(let record) = unsaved else { return }
        try await save(record, under: lock)
    }

    /// Saves a record with the lock held, and notes that the store has it.
    func save(_ record: Record, under lock: any CredentialLock) async throws(SessionError) {
        let glance = try await store.save(record, under: lock) { [weak self] in self?.noteStored(record) }
        state.withLock { state in
            // If somebody has signed in or out here meanwhile, that is not written yet, and stays the known state.
            guard state.record?.session == record.session else { return }
            let (isStored, version) =
                glance.map { ($0.stored?.session == record.session, $0.version) } ?? (true, .unseen)
            // If another process has ended the session meanwhile, the next call looks at the store again.
            (state.record, state.version, state.isKnown) = (record, version, isStored)
            state.lastNumber = max(state.lastNumber, record.number)
            switch state.unsaved {
            case .signIn, .renewal: (state.unsaved, state.overruled, state.hasLostLock) = (nil, [], false)
            case .signOut, .expiry, nil: break
            }
        }
        if glance != nil { storeWorked() }
    }

    /// Notes that the store has a sign-in, even if nobody waits for that any more. What other processes do from here on
    /// comes after it; saving it once more would overwrite theirs.
    private func noteStored(_ record: Record) {
        state.withLock { state in
            guard case .signIn(let unsaved) = state.unsaved, unsaved.session == record.session else { return }
            (state.isNumbered, state.lastNumber) = (true, max(state.lastNumber, record.number))
            // A credential that was renewed meanwhile still has to be saved.
            guard unsaved.credential == record.credential else { return }
            (state.unsaved, state.overruled, state.version) = (nil, [], .unseen)
        }
    }

    /// Saves a sign-in with the lock held, unless another process has signed in since; that sign-in is followed
    /// instead.
    func saveSignIn(_ session: UUID, under lock: any CredentialLock) async throws(SessionError) {
        let other: (session: UUID, glance: SharedStore<Credential>.Glance?)?
        do throws(SessionError) {
            let glance = try await store.glance()
            number(session, after: glance.stored)
            other = glance.stored.map { ($0.session, glance) }
        } catch {
            other = try sealedFirst(error)
        }
        let (epoch, known) = present()
        // If somebody has signed in or out here meanwhile, that is written next.
        guard case .signIn(let record) = known.unsaved, record.session == session else { return }
        // A record that cannot be read or decoded here is replaced. One that the sign-in did not find was saved first.
        guard let other, other.session != session, !isOverruled(other.session) else {
            do throws(SessionError) {
                return try await save(record, under: lock)
            } catch {
                await removeReplaced(by: session, under: lock)
                throw error
            }
        }
        // Even if it cannot be decoded here.
        let look = try other.glance?.look(endingOf: session) ?? SharedStore.Snapshot(isOfAnother: true)
        _ = follow(look, from: known, since: epoch)
    }

    /// The session in the record that a sign-in finds and that cannot be read here; nil when the record is replaced.
    ///
    /// - Throws: The error of a look that may succeed later, if it is known already whom the sign-in replaces: by now
    ///   somebody else may be stored.
    private func sealedFirst(
        _ error: SessionError
    ) throws(SessionError) -> (session: UUID, glance: SharedStore<Credential>.Glance?)? {
        guard state.withLock({ $0.isNumbered }), !error.isDamage, !error.isLeftAlone else { return nil }
        guard case .store(.sealedOtherwise(_, let session)) = error.kind else { throw error }
        return session.map { ($0, nil) }
    }

    /// Removes, with the lock held, the session that a sign-in has replaced, if the sign-in cannot be saved: else the next
    /// launch would begin with the user before. On a full disk there is room for nothing else, not even for the note of
    /// an end.
    private func removeReplaced(by session: UUID, under lock: any CredentialLock) async {
        let isReplaced: Bool
        do throws(SessionError) {
            let stored = try await store.glance().stored
            isReplaced = stored.map { $0.session != session && isOverruled($0.session) } ?? false
        } catch {
            // What cannot be read is replaced as well, unless it is known who is; but once, since others may sign in later.
            let isUnknown = state.withLock { state in
                defer { state.hasReplacedUnread = session }
                return !state.isNumbered && state.hasReplacedUnread != session
            }
            isReplaced = if case .store = error.kind, isUnknown { !error.isLeftAlone } else { false }
        }
        if isReplaced { try? await store.delete(under: lock) }
    }

    /// Keeps in memory a record that could not be saved; it overrules the store until it is saved.
    func keep(_ record: Record) {
        state.withLock { state in
            guard state.record?.session == record.session else { return }
            state.record = record
            switch state.unsaved {
            // A sign-in stays a sign-in, since the store still has the session before.
            case .signIn: state.unsaved = .signIn(record)
            case .renewal, .signOut, .expiry, nil: state.unsaved = .renewal(record)
            }
        }
    }

    /// Replaces the record of a session that the server has ended with one that has no credential, with the lock held,
    /// unless something else has taken its place.
    func expire(_ tried: Record, under lock: any CredentialLock) async throws(SessionError) {
        let stored = try await store.glance().stored
        // A record that cannot be decoded is a different one, renewed by another version of the app.
        let isTried = stored.map { $0.session == tried.session && tried.hasCredential(of: $0) } ?? false
        if let stored, isTried || isOverruled(stored.session) {
            try await store.expire(tried, under: lock)
        }
        noteStored(.expiry(tried), isKnown: false)
    }

    /// Removes from the store, with the lock held, what a sign-out means, unless something else has taken its place.
    ///
    /// - Throws: ``SessionError``. If the record is to be left alone, nothing is left to do, since such a record never
    ///   changes by itself.
    func remove(_ target: SignOutTarget, under lock: any CredentialLock) async throws(SessionError) {
        let found: Found
        do throws(SessionError) {
            found = try await find(target)
        } catch {
            if error.isLeftAlone { noteStored(.signOut(target), isKnown: false) }
            throw error
        }
        // The sign-out was narrowed meanwhile to whom it had found, or somebody has signed in here.
        guard state.withLock({ $0.unsaved == .signOut(target) }) else {
            if target == .stored, case .signOut(let narrowed) = state.withLock({ $0.unsaved }) {
                try await remove(narrowed, under: lock)
            }
            return
        }
        var meant = target
        if target == .stored {
            meant = found.target
            if case .session(let session, let stored) = found { noteEnd(of: session, stored: stored) }
            // Should the removal fail, it is tried again for what was found now.
            state.withLock { if $0.unsaved == .signOut(target) { $0.unsaved = .signOut(meant) } }
        }
        if found != .another { try await store.delete(under: lock) }
        noteStored(.signOut(meant), isKnown: found != .another)
    }

    /// Removes the record of an ended session whose process did not get to the removal, if the lock is free. Otherwise,
    /// the lock's holder does so, or the next process that looks.
    func removeRemains() {
        let removal = BackgroundTask.start { [store] in
            guard let lock = await store.lockIfFree() else { return }
            if let glance = try? await store.glance(), glance.stored == nil, !glance.hasExpired, glance.version != nil {
                try? await store.delete(under: lock)
            }
            store.unlock(lock)
        }
        state.withLock { $0.removal = removal }
    }

    /// Notes that the end of a session is stored.
    ///
    /// - Parameters:
    ///   - end: The end.
    ///   - isKnown: Whether the store is known to be empty; if not, the next call looks at what is stored.
    private func noteStored(_ end: Unsaved, isKnown: Bool) {
        state.withLock { state in
            guard state.unsaved == end else { return }
            (state.unsaved, state.isKnown, state.version) = (nil, isKnown, nil)
            state.overruled = []
        }
        storeWorked()
    }

    /// What a sign-out finds in the store, with the lock held.
    private enum Found: Equatable {
        /// No record, or one of an ended session.
        case nothing
        /// A record that nobody can read.
        case damaged
        /// A record that cannot be read now.
        case unreadable
        /// The record of a session that is meant; nil when only the session of it can be read.
        case session(UUID, StoredCredential?)
        /// The record of a session that is not meant.
        case another

        /// What a sign-out of whoever is stored means once this was found.
        var target: SignOutTarget {
            switch self {
            case .nothing: .nobody
            case .session(let session, _): .session(session)
            case .damaged: .damaged
            // It may be readable by the next try.
            case .unreadable, .another: .stored
            }
        }
    }

    private func find(_ target: SignOutTarget) async throws(SessionError) -> Found {
        do throws(SessionError) {
            // A store that shows nothing may still hold the record of an ended session.
            guard let stored = try await store.glance().stored else { return .nothing }
            return isMeant(stored.session, by: target) ? .session(stored.session, stored) : .another
        } catch {
            switch error.kind {
            // A damaged record does not show a session any more.
            case .store(.damaged): return .damaged
            case .store(.sealedOtherwise(_, let session?)):
                return isMeant(session, by: target) ? .session(session, nil) : .another
            // If the session to remove is not known, any session is meant, even one that cannot be read.
            case .store where target == .stored && !error.isLeftAlone: return .unreadable
            // Another process has replaced this session.
            case .store(.sealedOtherwise): return .another
            // Of a folder that is open to others nothing is read, but the end of a session says whether it is there.
            case .store(.notPrivate):
                guard let session = target.session, let stored = try? await store.end(session) else { throw error }
                return .session(session, stored)
            default: throw error
            }
        }
    }

    private func isMeant(_ session: UUID, by target: SignOutTarget) -> Bool {
        target == .stored || target == .session(session) || isOverruled(session)
    }

    /// Ends a session of which this process hears only when it removes its record.
    private func noteEnd(of session: UUID, stored: StoredCredential?) {
        let isNews = state.withLock { state in
            defer { state.noteEnd(of: session) }
            return !state.isOver(session)
        }
        if isNews, let credential = try? stored?.credential(as: Credential.self) { revokeInBackground(credential) }
    }

    private func isOverruled(_ session: UUID) -> Bool { state.withLock { $0.overruled.contains(session) } }

    /// Gives the lock back, unless what it protects is still unsaved.
    func release(_ lock: any CredentialLock) {
        let isKept = state.withLock { state in
            guard case .renewal = state.unsaved, lock.isHeld else { return false }
            state.keptLock = lock
            return true
        }
        if !isKept { store.unlock(lock) }
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

    /// The lock; nil when another task of this process has meanwhile written everything.
    private func lockForWriting() async throws(SessionError) -> (any CredentialLock)? {
        let locking = try await store.lock(orKept: takeKeptLock) { () throws(SessionError) -> Void? in
            self.state.withLock { $0.unsaved == nil } ? () : nil
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
                await endForAll()
                // Another task may meanwhile have removed the record along with the note of the end, which `endForAll`
                // has just put back.
                if state.withLock({ $0.unsaved == nil }) { removeRemains() }
                _ = try? await write()
                let isDone = state.withLock { state in
                    if state.unsaved == nil { state.isTryingAgain = false }
                    return state.unsaved == nil
                }
                if isDone { return }
            }
            state.withLock { $0.isTryingAgain = false }
        }
    }
}

extension SessionError {
    /// Whether the record is damaged, so that nobody can read it.
    fileprivate var isDamage: Bool {
        if case .store(.damaged) = kind { true } else { false }
    }

    /// Whether the record is neither replaced nor removed.
    fileprivate var isLeftAlone: Bool {
        switch kind {
        case .store(.foreign), .store(.newerFormat): true
        default: false
        }
    }
}
