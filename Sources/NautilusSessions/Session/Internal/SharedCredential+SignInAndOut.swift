import Foundation
import Nautilus

/// Sign-ins and sign-outs of this process. Both count here before anything is waited for, whatever the store does.
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
                case .signIn, .renewal: false
                case .signOut, .expiry, nil: true
                }
            if revokesReplaced {
                noteRevocation(of: replaced, in: &state)
            } else {
                state.sparingSignIns += 1
            }
            if let replaced { state.overruled.insert(replaced.session) }
            state.noteEnd(of: replaced?.session)
            switch state.unsaved {
            case nil: state.replacesUnknown = !state.isKnown
            case .signIn: if state.isNumbered { state.replacesUnknown = false }
            case .renewal: state.replacesUnknown = false
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
            if change != nil { coordinator.signIn(credential) }
        }
        guard let (replaced, isReplacedStored) = change else {
            forget(credential, revokingReplaced: revokesReplaced)
            throw SessionError(.superseded)
        }
        // Before the wait for the lock, during which another process may sign in.
        let stored = await endReplaced(by: session, known: replaced?.session)
        // Not the stored credential if an earlier unsaved sign-in has replaced it without a revocation, or if it is
        // older than the one here.
        let over = isReplacedStored ? try? stored?.credential(as: Credential.self) : nil
        if revokesReplaced, let over = over ?? replaced?.credential { revokeInBackground(over) }
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
        guard revokesReplaced || state.withLock({ $0.record == nil }) else { return }
        revokeInBackground(credential, sparingOthers: !revokesReplaced)
    }

    /// Ends the replaced session for the other processes, and for the next launch in case this process ends before the
    /// sign-in is saved: saving needs a lock, this does not. Numbers the sign-in after the replaced session.
    ///
    /// - Parameters:
    ///   - session: The session that the sign-in has begun.
    ///   - replaced: The session that went on here before; nil when none was known.
    /// - Returns: The record that was stored; nil when there was none, or it cannot be read.
    private func endReplaced(by session: UUID, known replaced: UUID?) async -> StoredCredential? {
        // Both at once: what is stored from now on has come later, and a look that hangs keeps nobody signed in
        // elsewhere.
        async let ending = endIfKnown(replaced)
        let glance = try? await store.glance()
        if let glance, store.showsLatest { number(session, after: glance.stored) }
        let ended = await ending
        // A session that was just ended in the store was not shown by a copy that is behind.
        if let ended { number(session, after: ended) }
        guard let stored = glance?.stored, stored.session != session else { return ended }
        let isMeant = state.withLock { state in
            // Once the sign-in is stored, or a later one has begun here, the store may have a later session.
            guard case .signIn(let record) = state.unsaved, record.session == session else { return false }
            // A session found once it is known whom the sign-in replaces has been stored since.
            guard !state.isNumbered || state.overruled.contains(stored.session) else { return false }
            state.overruled.insert(stored.session)
            state.noteEnd(of: stored.session)
            _ = state.findsForgotten(stored)
            state.lastNumber = max(state.lastNumber, stored.number)
            return true
        }
        guard isMeant else { return ended }
        if stored.session != replaced { _ = try? await store.end(stored.session) }
        return stored
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
            let isNews = stored.map { state.findsForgotten($0) || !state.isOver($0.session) } ?? false
            state.isNumbered = true
            if let stored { state.overruled.insert(stored.session) }
            state.noteEnd(of: stored?.session)
            state.lastNumber = max(state.lastNumber, stored?.number ?? 0)
            record.number = max(record.number, state.lastNumber + 1)
            (state.record, state.unsaved) = (record, .signIn(record))
            return isNews
        }
    }

    /// Has the server forget the credential of a session that a sign-in has found only after its first look, if that
    /// was asked for.
    func revokeReplaced(_ stored: StoredCredential?, by session: UUID) {
        guard state.withLock({ $0.revokesReplaced == session }) else { return }
        if let credential = try? stored?.credential(as: Credential.self) { revokeInBackground(credential) }
    }

    /// A sign-out that counts here already, and that the other processes have yet to learn of.
    struct Ending: Sendable {
        /// The session that was going on; nil when none was known.
        fileprivate let record: Record?
        /// Whether its credential is newer than the stored one.
        fileprivate let isNewer: Bool
        /// Whether the session was over before, so that its credential is none of this sign-out's business.
        fileprivate let wasOver: Bool
        /// The record that was stored when the sign-out began; nil when there was none, or it is not known.
        fileprivate var stored: StoredCredential?
    }

    /// Ends the session that goes on now, in this process, and for the next launch where the store can note that at
    /// once; waits for nothing.
    func beginSignOut() -> Ending {
        let ending = change { state in
            state.latest = state.begin()
            let record = state.record
            let isNewer = if case .renewal = state.unsaved { true } else { false }
            noteRevocation(of: record, in: &state)
            // Without a record, the user signed out before, here, elsewhere or by the server. By now the next user may
            // be stored, who is not meant.
            let ended = record?.session ?? state.lastSession
            state.noteEnd(of: ended)
            // While it is not known yet who is stored, the sign-out is meant for that session, whichever it is.
            var target = ended.map(SignOutTarget.session) ?? .stored
            // A sign-in that has not looked at the store yet replaces whatever is there.
            if let ended, case .signIn = state.unsaved, !state.isNumbered, state.replacesUnknown {
                state.overruled.insert(ended)
                target = .stored
            }
            // If nobody was signed in, it is meant for nobody.
            let isForNobody = ended == nil && state.unsaved == nil && state.wasKnown
            // There was no sign-in here since the last sign-out, which may be meant for the stored session.
            let isRepeated = if case .signOut = state.unsaved { true } else { false }
            state.record = nil
            if !isForNobody, !isRepeated { (state.unsaved, state.isKnown) = (.signOut(target), true) }
            return Ending(record: record, isNewer: isNewer, wasOver: record == nil && ended != nil)
        } following: { coordinator, _ in
            coordinator.signOut()
        }
        return noteAtOnce(ending)
    }

    /// Notes the end in a store that need not wait for that, since the app may be closed before the rest gets its
    /// turn.
    ///
    /// - Returns: The ending, with the stored record: once the end is noted, other processes may remove it.
    private func noteAtOnce(_ ending: Ending) -> Ending {
        let (unsaved, overruled) = state.withLock { ($0.unsaved, $0.overruled) }
        guard case .signOut(let target) = unsaved else { return ending }
        var ending = ending
        let glance = store.promptGlanceToEnd()
        if let stored = glance?.stored, stored.session == target.session { ending.stored = stored }
        if target == .stored, let glance, narrowSignOut(to: glance, areEnded: overruled.isEmpty),
            let found = glance.stored
        {
            ending.stored = found
            store.promptEnd(found.session)
        }
        let ended = overruled.union([target.session, ending.record?.session].compactMap(\.self))
        for session in ended { store.promptEnd(session) }
        return ending
    }

    /// Narrows a sign-out of whoever is stored to what the store shows.
    ///
    /// - Parameter areEnded: Whether the sessions that this process has overruled have been ended in the store.
    /// - Returns: Whether the sign-out is meant for what the store shows.
    private func narrowSignOut(to glance: SharedStore<Credential>.Glance, areEnded: Bool) -> Bool {
        let found = glance.stored?.session
        return state.withLock { state in
            switch state.unsaved {
            case .signOut(.stored): break
            case .signOut(let target): return target.session == found
            // Somebody has signed in here meanwhile, and may be the user who is stored.
            case .signIn, .renewal, .expiry, nil: return false
            }
            state.noteEnd(of: found)
            if let found { noteRevocation(of: found, in: &state) }
            // A store that may be behind tells at once only with the lock held who is stored.
            guard store.showsLatest || state.isSettled(at: watch.elapsed) else { return true }
            if found == nil, glance.version == nil, areEnded {
                (state.unsaved, state.version) = (nil, nil)
            } else {
                state.unsaved = .signOut(found.map(SignOutTarget.session) ?? .nobody)
            }
            return true
        }
    }

    /// Ends the session for the other processes, which needs no lock. All that is left to do is to remove its record
    /// with ``write()``.
    ///
    /// - Returns: The last credential of the session, from wherever it was; nil when none is known.
    func endForOthers(_ ending: Ending) async -> Credential? {
        // The server is told whatever the store does. Even a session that does not wait for locks gives the store time
        // here.
        let ended = await store.wait(atMost: store.limit) { [self] in await endForAll() } ?? nil
        if ending.wasOver { return nil }
        let stored = ended ?? ending.stored
        if let stored { state.withLock { _ = $0.findsForgotten(stored) } }
        // If another session is stored, an unsaved sign-in had already replaced it. And a renewed credential that is
        // not saved yet is newer than the stored one.
        if let record = ending.record, ending.isNewer || stored?.session != record.session { return record.credential }
        return (try? stored?.credential(as: Credential.self)) ?? ending.record?.credential
    }

    /// Ends, in the store and without the lock, the session that was signed out here.
    ///
    /// - Returns: The stored record; nil when there was none, or it cannot be read.
    @discardableResult
    func endForAll() async -> StoredCredential? {
        let (unsaved, overruled) = state.withLock { ($0.unsaved, $0.overruled) }
        if case .signIn(let record) = unsaved {
            // The store may be read again before its lock can be had.
            if showsReplaced, let glance = try? await store.glance(), number(record.session, after: glance.stored) {
                revokeReplaced(glance.stored, by: record.session)
            }
            for session in state.withLock({ $0.overruled }) {
                let ended = (try? await store.end(session)) ?? nil
                if let ended, number(record.session, after: ended) { revokeReplaced(ended, by: record.session) }
            }
        }
        guard case .signOut(let target) = unsaved else { return nil }
        // If that fails, the removal of the record tells the others, though a save that is under way would still bring
        // it back.
        var areEnded = true
        for session in overruled {
            do throws(SessionError) { _ = try await store.end(session) } catch { areEnded = false }
        }
        var found: StoredCredential?
        do throws(SessionError) {
            guard target == .stored else {
                guard let session = target.session else { return nil }
                return try await store.end(session)
            }
            // A process that has just started has to find out which session it ends.
            let glance = try await store.glance()
            let isMeant = narrowSignOut(to: glance, areEnded: areEnded)
            guard isMeant, let stored = glance.stored else { return nil }
            found = stored
            return try await store.end(stored.session) ?? stored
        } catch {
            // If the end cannot be noted, the removal of the record tells the others.
            return found
        }
    }

    /// Whether a look without the lock shows whom the last sign-in replaces, or somebody who has signed in since.
    var showsReplaced: Bool { store.showsLatest || state.withLock { $0.isSettled(at: watch.elapsed) } }

    /// Changes the known state and the coordinator together, so that two simultaneous changes happen in the same order
    /// in both.
    private func change<Value>(
        _ change: (inout State) -> Value,
        following follow: (Coordinator, Value) -> Void
    ) -> Value {
        defer { tellEnds() }
        return turn.take {
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
