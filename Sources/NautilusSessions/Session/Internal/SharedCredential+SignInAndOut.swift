import Foundation
import Nautilus

/// Sign-ins of this process. They count here before anything is waited for, whatever the store does.
extension SharedCredential {
    /// Begins a sign-in whose credential is still being obtained. A sign-in that begins later, or a sign-out, wins over
    /// it.
    func beginSignIn() -> Int {
        state.withLock { $0.begin() }
    }

    /// Begins a session, here at once and then in the store.
    ///
    /// - Parameters:
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before.
    ///   - number: The number from ``beginSignIn()``; nil for a sign-in that begins now.
    func signIn(
        _ credential: Credential,
        revokingReplaced revokesReplaced: Bool,
        begunAs number: Int? = nil
    ) async throws(SessionError) {
        let session = UUID.random()
        let encoded = Record.Encoded(credential)
        let credential = encoded.credential
        if number != nil, Task.isCancelled {
            forget(credential, revokingReplaced: revokesReplaced)
            throw SessionError(.cancelled)
        }
        let change: (replaced: Record?, isStored: Bool)? = change { state in
            let number = number ?? state.begin()
            guard number > state.latest else { return nil }
            state.latest = number
            let replaced = state.record
            let isStored =
                switch state.unsaved {
                case .signIn, .refresh: false
                case .signOut, .expiry, nil: true
                }
            if revokesReplaced {
                noteRevocation(of: replaced, in: &state)
            } else {
                state.sparingSignIns += 1
                // Nor is what a refresh of an earlier session may still bring revoked before the next sign-out.
                state.revokedSessions = []
            }
            if let replaced { state.overruled.insert(replaced.session) }
            state.noteEnd(of: replaced?.session)
            switch state.unsaved {
            case nil: state.replacesUnknown = !state.isKnown
            case .signIn: if state.isNumbered { state.replacesUnknown = false }
            case .refresh: state.replacesUnknown = false
            case .expiry(let record):
                state.overruled.insert(record.session)
                state.replacesUnknown = false
            case .signOut(let target):
                if let session = target.session { state.overruled.insert(session) }
                state.replacesUnknown = target == .stored || target == .damaged
            }
            // After the sessions that are, or were, stored: sign-ins that no other process can know of do not count.
            state.begunHere = session
            state.revokesReplaced = revokesReplaced ? session : nil
            state.revokesUnknown = revokesReplaced && (!state.hasUnknown || state.revokesUnknown)
            let record = Record(
                session: session,
                number: state.lastNumber + 1,
                credential: credential,
                content: encoded.content
            )
            // First of all, overrule the store, so that nothing in it is adopted any more.
            (state.record, state.unsaved, state.isKnown) = (record, .signIn(record), true)
            state.isNumbered = false
            return (replaced, isStored)
        } following: { coordinator, change in
            guard change != nil else { return }
            // A call of the time before goes on.
            endAhead(.superseded) { $0 != nil }
            coordinator.signIn(credential)
        }
        guard let (replaced, isReplacedStored) = change else {
            forget(credential, revokingReplaced: revokesReplaced)
            throw SessionError(.superseded)
        }
        // Before the wait for the lock, during which another process may sign in.
        let (stored, isNews) = await endReplaced(by: session, known: replaced?.session)
        if revokesReplaced {
            let found = try? stored?.credential(as: Credential.self)
            // Not the stored credential if an earlier unsaved sign-in has replaced it without a revocation, or if it is
            // older than the one here.
            if let over = (isReplacedStored ? found : nil) ?? replaced?.credential { revokeInBackground(over) }
            if !isReplacedStored, isNews { revokeReplaced(stored, by: session) }
        }
        // The sign-in or sign-out that has overtaken it writes what is to be written.
        guard isCurrent(session) else { throw SessionError(.superseded) }
        try await write()
        guard isCurrent(session) else { throw SessionError(.superseded) }
    }

    private func isCurrent(_ session: UUID) -> Bool { state.withLock { $0.record?.session == session } }

    /// Has the server forget a credential that is not taken.
    private func forget(_ credential: Credential, revokingReplaced revokesReplaced: Bool) {
        // While nobody is signed in, nobody can use the credential. After another sign-in it may be useful, to the same
        // user or another.
        guard revokesReplaced || state.withLock({ $0.record == nil }) else { return spare(credential) }
        revokeInBackground(credential, sparingOthers: !revokesReplaced)
    }

    /// Ends the replaced session for the other processes, and for the next launch in case this process ends before the
    /// sign-in is saved: saving needs a lock, this does not. Numbers the sign-in after the replaced session.
    ///
    /// - Parameters:
    ///   - session: The session that the sign-in has begun.
    ///   - replaced: The session that went on here before; nil when none was known.
    /// - Returns: The record that was stored, nil when there was none or it cannot be read; and whether this process
    ///   learns only now of its session, or of its latest credential.
    private func endReplaced(
        by session: UUID,
        known replaced: UUID?
    ) async -> (stored: StoredCredential?, isNews: Bool) {
        // Both at once: what is stored from now on has come later, and a look that hangs keeps nobody signed in
        // elsewhere.
        async let ending = endIfKnown(replaced)
        let glance = try? await store.glance()
        var isNews = false
        if let glance, store.showsLatest { isNews = number(session, after: glance.stored) }
        let ended = await ending
        // A session that was just ended in the store was not shown by a stale read.
        if let ended, number(session, after: ended) { isNews = true }
        guard let stored = glance?.stored, stored.session != session else { return (ended, isNews) }
        let isMeant = state.withLock { state in
            // Once the sign-in is stored, or a later one has begun here, the store may have a later session.
            guard case .signIn(let record) = state.unsaved, record.session == session else { return false }
            // A session found once it is known whom the sign-in replaces has been stored since.
            guard !state.isNumbered || state.overruled.contains(stored.session) else { return false }
            state.overruled.insert(stored.session)
            if state.isNews(stored) { isNews = true }
            state.noteEnd(of: stored.session)
            state.lastNumber = max(state.lastNumber, stored.number)
            return true
        }
        guard isMeant else { return (ended, isNews) }
        // A refresh may have been saved since the look: the end has the latest credential of the session.
        let latest = stored.session == replaced ? ended : await endIfKnown(stored.session)
        return (latest ?? stored, isNews)
    }

    private func endIfKnown(_ session: UUID?) async -> StoredCredential? {
        guard let session else { return nil }
        return (try? await store.end(session)) ?? nil
    }

    /// Numbers a sign-in after the session that it replaces: the one found stored when the store could first be read.
    /// A session found there later has been stored since, unless this process has overruled it.
    ///
    /// - Returns: Whether this process learns only now of the session that it replaces, or of its latest credential.
    @discardableResult
    func number(_ session: UUID, after stored: StoredCredential?) -> Bool {
        state.withLock { state in
            guard case .signIn(var record) = state.unsaved, record.session == session, stored?.session != session,
                !state.isNumbered || stored.map({ state.overruled.contains($0.session) }) ?? false
            else { return false }
            let isNews = stored.map { state.isNews($0) } ?? false
            state.isNumbered = true
            if let stored { state.overruled.insert(stored.session) }
            state.noteEnd(of: stored?.session)
            state.lastNumber = max(state.lastNumber, stored?.number ?? 0)
            record.number = max(record.number, state.lastNumber + 1)
            (state.record, state.unsaved) = (record, .signIn(record))
            return isNews
        }
    }

    /// Has the server forget the credential of a session that a sign-in has found only after its first look, or that an
    /// earlier one has not found, if all of them have asked for that.
    func revokeReplaced(_ stored: StoredCredential?, by session: UUID) {
        let isAsked = state.withLock { state in
            let isKnown = stored.map { state.forgotten[$0.session] != nil } ?? false
            return state.revokesReplaced == session && (isKnown || state.revokesUnknown)
        }
        guard isAsked else { return }
        if let credential = try? stored?.credential(as: Credential.self) { revokeInBackground(credential) }
    }

    /// Whether a look without the lock shows whom the last sign-in replaces, or somebody who has signed in since.
    var showsReplaced: Bool { store.showsLatest || state.withLock { $0.isSettled(at: watch.elapsed) } }

    /// Changes the known state and the coordinator together, so that two simultaneous changes happen in the same order
    /// in both.
    func change<Value>(
        _ change: (inout State) -> Value,
        following follow: (Coordinator, Value) -> Void
    ) -> Value {
        defer { tellEnds() }
        return changes.withLock {
            let (value, coordinator, hasChanged) = state.withLock { state in
                state.isChanging = true
                let latest = state.latest
                let value = change(&state)
                // A sign-in that comes too late changes nothing.
                let hasChanged = state.latest != latest
                if hasChanged { (state.changes, state.changed) = (state.changes + 1, watch.elapsed) }
                return (value, state.coordinator, hasChanged)
            }
            if let coordinator { follow(coordinator, value) }
            state.withLock { $0.isChanging = false }
            // Looks under way belong to what was known before.
            if hasChanged { store.interruptLooks() }
            return value
        }
    }
}
