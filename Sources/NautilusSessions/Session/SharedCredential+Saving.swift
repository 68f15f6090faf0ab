import Foundation
import Nautilus

extension SharedCredential {
    /// Brings to the store what it does not have yet.
    ///
    /// - Throws: ``SessionError`` when that fails; it is tried again in the background then.
    func write() async throws(SessionError) {
        guard state.withLock({ $0.unsaved != nil }) else { return }
        do throws(SessionError) {
            guard let lock = try await lockForWriting() else { return }
            defer { release(lock) }
            switch state.withLock({ $0.unsaved }) {
            case nil: break
            case .renewal(let record):
                await heedEndWhileUnsaved()
                if state.withLock({ $0.unsaved != nil }) { try await save(record) }
            case .signIn(let record): try await saveSignIn(record.session)
            case .signOut(let session): try await remove(session)
            }
        } catch {
            storeFailed(error)
            tryAgain()
            throw error
        }
    }

    /// Saves with the lock held, and notes that the store has what is known here.
    func save(_ record: Record) async throws(SessionError) {
        let glance = try await store.save(record) { [weak self] in self?.noteStored(record) }
        state.withLock { state in
            // Somebody has signed in or out meanwhile, which has not been written yet: that goes on being known.
            guard state.record?.session == record.session else { return }
            let (isStored, version) =
                glance.map { ($0.stored?.session == record.session, $0.version) } ?? (true, .unseen)
            // If another process has ended the session meanwhile, the next call looks anew.
            (state.record, state.version, state.isKnown) = (record, version, isStored)
            switch state.unsaved {
            case .signIn, .renewal: (state.unsaved, state.overruled) = (nil, [])
            case .signOut, nil: break
            }
        }
        if glance != nil { storeWorked() }
    }

    /// Notes that the store has a sign-in, though it may not be waited for any more: what other processes do from here on
    /// comes after it. Were it saved once more, it would take the place of theirs.
    private func noteStored(_ record: Record) {
        state.withLock { state in
            guard case .signIn(let unsaved) = state.unsaved, unsaved.session == record.session else { return }
            state.isNumbered = true
            // One that was renewed meanwhile is still to be saved.
            guard unsaved.credential == record.credential else { return }
            (state.unsaved, state.overruled, state.version) = (nil, [], .unseen)
        }
    }

    /// Saves a sign-in with the lock held, unless another process has signed in since, which counts then.
    func saveSignIn(_ session: UUID) async throws(SessionError) {
        let glance = try? await store.glance()
        if let glance { number(session, after: glance.stored) }
        let (epoch, known) = present()
        // Somebody has signed in or out here meanwhile: that is written next.
        guard case .signIn(let record) = known.unsaved, record.session == session else { return }
        // A record that cannot be read, or decoded, here is replaced.
        guard let look = try? glance?.look(), let other = look.stored, other.session != session,
            other.number >= record.number
        else {
            return try await save(record)
        }
        _ = follow(look, from: known, since: epoch)
    }

    /// Keeps what could not be saved in memory, where it overrules the store until it is, and tries again.
    func keep(_ record: Record, because error: SessionError) {
        state.withLock { state in
            guard state.record?.session == record.session else { return }
            state.record = record
            // A sign-in stays one: the store still has the session before.
            if case .signIn = state.unsaved {
                state.unsaved = .signIn(record)
            } else {
                state.unsaved = .renewal(record)
            }
        }
        storeFailed(error)
        tryAgain()
    }

    /// Replaces the record of a session that the server has ended by one without a credential, with the lock held,
    /// unless something else has taken its place.
    func expire(_ tried: Record) async throws(SessionError) {
        let stored = try await store.glance().stored
        // A record that cannot be decoded is another one, renewed by another version of the app.
        if let stored, isCredential(of: tried, in: stored) || isOverruled(stored.session) {
            try await store.expire(tried)
        }
        noteRemoval(of: tried.session, isKnown: false)
    }

    private func isCredential(of record: Record, in stored: StoredCredential) -> Bool {
        stored.session == record.session && (try? stored.credential()) == record.credential
    }

    /// Removes a session from the store with the lock held, unless something else has taken its place.
    ///
    /// - Parameter session: The session; nil for whichever is stored.
    func remove(_ session: UUID?) async throws(SessionError) {
        let isRemovable = try await isRemovable(session)
        if isRemovable { try await store.delete() }
        noteRemoval(of: session, isKnown: isRemovable)
    }

    /// Notes that the end of a session is stored.
    ///
    /// - Parameter isKnown: Whether nothing is stored; else what is, is looked at by the next call.
    private func noteRemoval(of session: UUID?, isKnown: Bool) {
        state.withLock { state in
            guard state.unsaved == .signOut(session: session) else { return }
            (state.unsaved, state.isKnown, state.version) = (nil, isKnown, nil)
            state.overruled = []
        }
        storeWorked()
    }

    private func isRemovable(_ session: UUID?) async throws(SessionError) -> Bool {
        do throws(SessionError) {
            // A store that shows nothing may still hold a session that has been ended.
            guard let stored = try await store.glance().stored else { return true }
            return session == nil || stored.session == session || isOverruled(stored.session)
        } catch {
            switch error.kind {
            // It does not show any session any more.
            case .store(.damaged): return true
            // Another process has taken this one's place; when it is not known which session it is, every one is meant.
            case .store(.sealedOtherwise): return session == nil
            default: throw error
            }
        }
    }

    private func isOverruled(_ session: UUID) -> Bool { state.withLock { $0.overruled.contains(session) } }

    /// Gives the lock back, unless what it protects is still unsaved.
    func release(_ lock: any CredentialLock) {
        let isKept = state.withLock { state in
            guard case .renewal = state.unsaved else { return false }
            state.keptLock = lock
            return true
        }
        if !isKept { store.unlock(lock) }
    }

    /// The lock that is kept; nil when none is, or it is in use.
    func takeKeptLock() -> (any CredentialLock)? {
        state.withLock { state in
            defer { state.keptLock = nil }
            return state.keptLock
        }
    }

    /// The lock; nil when another task of this process has written meanwhile what was to be written.
    private func lockForWriting() async throws(SessionError) -> (any CredentialLock)? {
        let locking = try await store.lock(orKept: takeKeptLock) { () throws(SessionError) -> Void? in
            self.state.withLock { $0.unsaved == nil } ? () : nil
        }
        guard case .locked(let lock) = locking else { return nil }
        return lock
    }

    /// Writes in the background until it has worked, though the session's object is dropped meanwhile: a user who has
    /// signed out must not come back with the next one.
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

/// Sign-ins and sign-outs of this process. Both count here before anything is waited for, and whatever the store does.
extension SharedCredential {
    /// Begins a session: here at once, then in the store.
    ///
    /// - Parameter revokesReplaced: Whether the server is asked to forget the credential of the session before.
    func signIn(_ credential: Credential, revokingReplaced revokesReplaced: Bool) async throws(SessionError) {
        let (session, credential) = (UUID(), Record.asStored(credential))
        let (replaced, isReplacedStored) = change { state in
            let replaced = state.record
            let isStored =
                switch state.unsaved {
                case .signIn, .renewal: false
                case .signOut, nil: true
                }
            if revokesReplaced { noteRevocation(of: replaced?.session, in: &state) }
            if let replaced { state.overruled.insert(replaced.session) }
            if case .signOut(let session?) = state.unsaved { state.overruled.insert(session) }
            state.lastNumber += 1
            let record = Record(session: session, number: state.lastNumber, credential: credential)
            // First: from here on the store is overruled, and nothing that it has is adopted any more.
            (state.record, state.unsaved, state.isKnown) = (record, .signIn(record), true)
            state.isNumbered = false
            return (replaced, isStored)
        } following: {
            $0.signIn(credential)
        }
        // Before the wait for the lock, during which another process may sign in anew.
        let glance = try? await store.glance()
        if let glance { number(session, after: glance.stored) }
        // Unless what is stored was replaced before, by a sign-in that asked for nothing, or is older than what is here.
        let over = isReplacedStored ? try? glance?.stored?.credential(as: Credential.self) : nil
        if revokesReplaced, let over = over ?? replaced?.credential { revokeInBackground(over) }
        try await write()
        guard state.withLock({ $0.record?.session == session }) else { throw SessionError(.superseded) }
    }

    /// Numbers a sign-in after the session that it replaces: the one that was stored when it could be read first.
    func number(_ session: UUID, after stored: StoredCredential?) {
        state.withLock { state in
            guard !state.isNumbered, let record = state.record, record.session == session else { return }
            state.isNumbered = true
            if let stored { state.overruled.insert(stored.session) }
            state.lastNumber = max(state.lastNumber, (stored?.number ?? 0) + 1)
            let numbered = Record(session: session, number: state.lastNumber, credential: record.credential)
            (state.record, state.unsaved) = (numbered, .signIn(numbered))
        }
    }

    /// Ends the session that goes on now: here before anything is waited for, then for the other processes, for which
    /// no lock is needed. What is left to do is to remove its record, by ``write()``.
    ///
    /// - Returns: The last credential of the session, wherever it was; nil when none is known.
    func signOut() async -> Credential? {
        let (record, isNewer) = change { state in
            let record = state.record
            let isNewer = if case .renewal = state.unsaved { true } else { false }
            noteRevocation(of: record?.session, in: &state)
            var ended = record?.session
            // Signed out of before, here or by the server: that is still to be stored, and the next user is not meant.
            if ended == nil, case .signOut(let session?) = state.unsaved { ended = session }
            // A sign-in that has not looked at the store yet takes the place of whatever is there.
            if let session = ended, case .signIn = state.unsaved, !state.isNumbered {
                state.overruled.insert(session)
                ended = nil
            }
            // If no user is known here, the sign-out is meant for the stored session, whichever it is.
            (state.record, state.unsaved, state.isKnown) = (nil, .signOut(session: ended), true)
            return (record, isNewer)
        } following: {
            $0.signOut()
        }
        // The server is told whatever the store does. A session that waits for no lock gives the store time all the same.
        let stored = await store.wait(atMost: store.limit) { [self] in await endForAll() } ?? nil
        // Another session that is stored was replaced before, by a sign-in that has not been saved; and a renewed credential
        // that has not been is newer than the stored one.
        if let record, isNewer || stored?.session != record.session { return record.credential }
        return (try? stored?.credential(as: Credential.self)) ?? record?.credential
    }

    /// Ends the session that was signed out of here in the store, without the lock.
    ///
    /// - Returns: The stored record; nil when there was none, or it cannot be read.
    @discardableResult
    func endForAll() async -> StoredCredential? {
        let (unsaved, overruled) = state.withLock { ($0.unsaved, $0.overruled) }
        guard case .signOut(let known) = unsaved else { return nil }
        // If that fails, the removal of the record tells; a save of one that is under way would still bring it back.
        var areEnded = true
        for session in overruled {
            do throws(SessionError) { _ = try await store.end(session) } catch { areEnded = false }
        }
        do throws(SessionError) {
            if let known { return try await store.end(known) }
            // A process that has just started has to learn which session it ends.
            let glance = try await store.glance()
            let session = glance.stored?.session
            state.withLock { state in
                guard state.unsaved == .signOut(session: nil) else { return }
                if let session {
                    state.unsaved = .signOut(session: session)
                    noteRevocation(of: session, in: &state)
                } else if glance.version == nil, areEnded {
                    (state.unsaved, state.version) = (nil, nil)
                }
            }
            return if let session { try await store.end(session) } else { nil }
        } catch {
            // The removal of its record tells if that fails as well.
            return nil
        }
    }

    /// Changes what is known and the coordinator at once: of two changes at a time, one comes before the other in both.
    private func change<Value>(
        _ change: (inout State) -> Value,
        following follow: (Coordinator) -> Void
    ) -> Value {
        defer { tellEnds() }
        return turn.withLock { _ in
            let (value, coordinator) = state.withLock { state in
                state.isChanging = true
                return (change(&state), state.coordinator)
            }
            if let coordinator { follow(coordinator) }
            state.withLock { $0.isChanging = false }
            return value
        }
    }
}
