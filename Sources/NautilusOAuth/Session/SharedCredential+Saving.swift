import Foundation
import Nautilus

extension SharedCredential {
    /// Begins a session: here at once, then in the store.
    func signIn(_ credential: OAuthCredential) async throws(OAuthError) {
        let session = UUID()
        let coordinator = state.withLock { state in
            state.lastNumber += 1
            let record = StoredCredential(session: session, number: state.lastNumber, credential: credential)
            // First: from here on the store is overruled, and nothing that it has is adopted any more.
            (state.record, state.unsaved, state.isKnown) = (record, .signIn(record), true)
            state.isNumbered = false
            return state.coordinator
        }
        coordinator?.signIn(credential)
        // Before the wait for the lock, during which another process may sign in anew.
        if let look = try? await store.look() { number(session, after: look.stored) }
        try await write()
        guard state.withLock({ $0.record?.session == session }) else { throw OAuthError(.superseded) }
    }

    /// Numbers a sign-in after the session whose place it takes: that which was stored when it could be read first.
    private func number(_ session: UUID, after stored: StoredCredential?) {
        state.withLock { state in
            guard !state.isNumbered, let record = state.record, record.session == session else { return }
            state.isNumbered = true
            state.lastNumber = max(state.lastNumber, (stored?.number ?? 0) + 1)
            let numbered = StoredCredential(session: session, number: state.lastNumber, credential: record.credential)
            (state.record, state.unsaved) = (numbered, .signIn(numbered))
        }
    }

    /// Ends the session: here at once, then in the store.
    ///
    /// - Returns: The last credential of the session, wherever it was, and why it is still in the store if it is.
    func signOut() async -> (ended: OAuthCredential?, failure: OAuthError?) {
        // A process that has just started does not know yet whose session it ends.
        var failure: OAuthError?
        do throws(OAuthError) { try await catchUp() } catch { failure = error }
        let (coordinator, record) = state.withLock { state in
            let record = state.record
            // What another process saves from here on is another session, and stays.
            if let record { (state.record, state.unsaved) = (nil, .signOut(session: record.session)) }
            return (state.coordinator, record)
        }
        coordinator?.signOut()
        guard let record else { return (nil, failure) }
        do throws(OAuthError) {
            return (try await write() ?? record.credential, nil)
        } catch {
            return (record.credential, error)
        }
    }

    /// Brings to the store what it does not have yet.
    ///
    /// - Returns: The credential that was removed from the store; nil when none was.
    /// - Throws: ``OAuthError`` when that fails; it is tried again in the background then.
    @discardableResult
    func write() async throws(OAuthError) -> OAuthCredential? {
        guard state.withLock({ $0.unsaved != nil }) else { return nil }
        do throws(OAuthError) {
            guard let lock = try await lockForWriting() else { return nil }
            defer { release(lock) }
            switch state.withLock({ $0.unsaved }) {
            case nil: return nil
            case .renewal(let record):
                try await save(record)
                return nil
            case .signIn(let record):
                try await saveSignIn(record.session)
                return nil
            case .signOut(let session):
                return try await remove(session)
            }
        } catch {
            storeFailed(error)
            tryAgain()
            throw error
        }
    }

    /// Saves with the lock held, and notes that the store has what is known here.
    func save(_ record: StoredCredential) async throws(OAuthError) {
        let look = try await store.save(record)
        state.withLock { state in
            // Somebody has signed in or out meanwhile, which has not been written yet: that goes on being known.
            guard state.record?.session == record.session else { return }
            (state.record, state.version, state.isKnown) = (record, look.version, true)
            switch state.unsaved {
            case .signIn, .renewal: state.unsaved = nil
            case .signOut, nil: break
            }
        }
        storeWorked()
    }

    /// Saves a sign-in with the lock held, unless another process has signed in since, which counts then.
    private func saveSignIn(_ session: UUID) async throws(OAuthError) {
        let look = try? await store.look()
        if let look { number(session, after: look.stored) }
        let (epoch, known) = present()
        // Somebody has signed in or out here meanwhile: that is written next.
        guard case .signIn(let record) = known.unsaved, record.session == session else { return }
        guard let look, let other = look.stored, other.session != session, other.number >= record.number else {
            return try await save(record)
        }
        _ = follow(look, from: known, since: epoch)
    }

    /// Keeps what could not be saved in memory, where it overrules the store until it is, and tries again.
    func keep(_ record: StoredCredential, because error: OAuthError) {
        state.withLock { state in
            guard state.record?.session == record.session else { return }
            (state.record, state.unsaved) = (record, .renewal(record))
        }
        storeFailed(error)
        tryAgain()
    }

    /// Removes a session from the store with the lock held, unless something else has taken its place.
    ///
    /// - Parameter isMeant: Whether what is stored is what shall go.
    @discardableResult
    func remove(
        _ session: UUID,
        where isMeant: (StoredCredential) -> Bool = { _ in true }
    ) async throws(OAuthError) -> OAuthCredential? {
        let stored = try await store.look().stored.flatMap { $0.session == session && isMeant($0) ? $0 : nil }
        if stored != nil { try await store.delete() }
        state.withLock { state in
            guard state.unsaved == .signOut(session: session) else { return }
            // Whoever has signed in elsewhere is looked at by the next call.
            (state.unsaved, state.isKnown, state.version) = (nil, false, nil)
        }
        storeWorked()
        return stored?.credential
    }

    /// Gives the lock back, unless what it protects is still unsaved.
    func release(_ lock: any CredentialLock) {
        let isKept = state.withLock { state in
            guard case .renewal = state.unsaved else { return false }
            state.keptLock = lock
            return true
        }
        if !isKept { lock.unlock() }
    }

    /// The lock that is kept; nil when none is, or somebody uses it.
    func takeKeptLock() -> (any CredentialLock)? {
        state.withLock { state in
            defer { state.keptLock = nil }
            return state.keptLock
        }
    }

    /// The lock; nil when another task of this process has written meanwhile what was to be written.
    private func lockForWriting() async throws(OAuthError) -> (any CredentialLock)? {
        let locking = try await store.lock(orKept: takeKeptLock) { () throws(OAuthError) -> Void? in
            self.state.withLock { $0.unsaved == nil } ? () : nil
        }
        guard case .locked(let lock) = locking else { return nil }
        return lock
    }

    /// Writes in the background until it has worked.
    func tryAgain() {
        let isFirst = state.withLock { state in
            defer { state.isTryingAgain = true }
            return !state.isTryingAgain
        }
        guard isFirst else { return }
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                // The session is gone, or nobody is there to wait.
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { break }
                _ = try? await self.write()
                let isDone = self.state.withLock { state in
                    if state.unsaved == nil { state.isTryingAgain = false }
                    return state.unsaved == nil
                }
                if isDone { return }
            }
            self?.state.withLock { $0.isTryingAgain = false }
        }
    }
}
