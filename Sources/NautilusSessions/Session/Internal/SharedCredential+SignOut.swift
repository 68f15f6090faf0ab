import Foundation
import Nautilus

/// Sign-outs of this process. They count here before anything is waited for, whatever the store does.
extension SharedCredential {
    /// A sign-out that counts here already, and that the other processes have yet to learn of.
    struct Ending: Sendable {
        /// The session that was going on; nil when none was known.
        fileprivate let record: Record?
        /// Whether its credential is newer than the stored one.
        fileprivate let isNewer: Bool
        /// Whether the session was over before, so that its credential is none of this sign-out's business.
        fileprivate let wasOver: Bool
        /// Whether the credential of another session that is found is to be forgotten as well: a sign-in that has not
        /// found it yet has asked for that.
        fileprivate let revokesUnknown: Bool
        /// The record that was stored when the sign-out began; nil when there was none, or it is not known.
        fileprivate var stored: StoredCredential?
    }

    /// Ends the session that goes on now, in this process, and for the next launch where the store can note that at
    /// once; waits for nothing.
    func beginSignOut() -> Ending {
        let ending = change { state in
            state.latest = state.begin()
            let record = state.record
            let isNewer = if case .refresh = state.unsaved { true } else { false }
            let revokesUnknown = state.hasUnknown && state.revokesUnknown
            noteRevocation(of: record, in: &state)
            // Without a record, the user signed out before, here, elsewhere or by the server. By now the next user may
            // be stored, who is not meant.
            let ended = record?.session ?? state.lastSession
            state.noteEnd(of: ended)
            // While it is not known yet who is stored, the sign-out is meant for that session, whichever it is.
            var target = ended.map(SignOutTarget.session) ?? .stored
            // A sign-in that has not looked at the store yet replaces whatever is there.
            if let ended, state.hasUnknown, state.replacesUnknown {
                state.overruled.insert(ended)
                target = .stored
            }
            // If nobody was signed in, it is meant for nobody.
            let isForNobody = ended == nil && state.unsaved == nil && state.wasKnown
            // There was no sign-in here since the last sign-out, which may be meant for the stored session.
            let isRepeated = if case .signOut = state.unsaved { true } else { false }
            state.record = nil
            state.noted = []
            if !isForNobody, !isRepeated { (state.unsaved, state.isKnown) = (.signOut(target), true) }
            return Ending(
                record: record,
                isNewer: isNewer,
                wasOver: record == nil && ended != nil,
                revokesUnknown: revokesUnknown
            )
        } following: { coordinator, _ in
            let meansStored = state.withLock { $0.unsaved == .signOut(.stored) }
            endAhead(.signedOut) { meansStored || $0 == nil }
            coordinator.signOut()
        }
        return noteAtOnce(ending)
    }

    /// Notes the end in a store that need not wait for that, since the app may be closed before the rest is
    /// done.
    ///
    /// - Returns: The ending, with the stored record: once the end is noted, other processes may remove it.
    private func noteAtOnce(_ ending: Ending) -> Ending {
        let (unsaved, overruled) = state.withLock { ($0.unsaved, $0.overruled) }
        guard case .signOut(let target) = unsaved else { return ending }
        var ending = ending
        let glance = store.promptGlanceToEnd()
        if let stored = glance?.stored, stored.session == target.session { ending.stored = stored }
        if target == .stored, let glance, narrowSignOut(to: glance, at: watch.elapsed, areEnded: overruled.isEmpty),
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
    /// - Parameters:
    ///   - asked: When the store was asked, since an answer may take long.
    ///   - areEnded: Whether the sessions that this process has overruled have been ended in the store.
    /// - Returns: Whether the sign-out is meant for what the store shows.
    private func narrowSignOut(
        to glance: SharedStore<Credential>.Glance,
        at asked: Duration,
        areEnded: Bool
    ) -> Bool {
        let found = glance.stored?.session
        return state.withLock { state in
            switch state.unsaved {
            case .signOut(.stored): break
            case .signOut(let target): return target.session == found
            // Somebody has signed in here meanwhile, and may be the user who is stored.
            case .signIn, .refresh, .expiry, nil: return false
            }
            state.noteEnd(of: found)
            if let found { noteRevocation(of: found, in: &state) }
            // A store that may be stale tells at once only with the lock held who is stored.
            guard store.showsLatest || state.isSettled(at: asked) else { return true }
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
        // If another session is stored, an unsaved sign-in had already replaced it. And a refreshed credential that is
        // not saved yet is newer than the stored one.
        if let record = ending.record, ending.isNewer || stored?.session != record.session {
            if ending.revokesUnknown, let found = try? stored?.credential(as: Credential.self) {
                revokeInBackground(found, sparingOthers: true)
            }
            return record.credential
        }
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
            do throws(SessionError) { _ = try await end(session) } catch { areEnded = false }
        }
        var found: StoredCredential?
        do throws(SessionError) {
            guard target == .stored else {
                guard let session = target.session else { return nil }
                return try await end(session)
            }
            // A process that has just started has to find out which session it ends.
            let asked = watch.elapsed
            let glance = try await store.glance()
            let isMeant = narrowSignOut(to: glance, at: asked, areEnded: areEnded)
            guard isMeant, let stored = glance.stored else { return nil }
            found = stored
            return try await end(stored.session) ?? stored
        } catch {
            // If the end cannot be noted, the removal of the record tells the others.
            return found
        }
    }

    /// Ends a session in the store, and remembers that the store has noted it.
    private func end(_ session: UUID) async throws(SessionError) -> StoredCredential? {
        let stored = try await store.end(session)
        state.withLock { _ = $0.noted.insert(session) }
        return stored
    }

    /// Whether all that a sign-out still has to do is to remove a record that no process is shown any more. That can
    /// wait for the lock in the background; if this process ends before, the next one that looks removes it.
    var isNotedForAll: Bool {
        state.withLock { state in
            guard case .signOut(let target) = state.unsaved else { return false }
            switch target {
            case .session(let session): return state.overruled.union([session]).isSubset(of: state.noted)
            case .nobody: return state.overruled.isSubset(of: state.noted)
            // It is not known yet who is meant, or only the removal of the record signs out.
            case .stored, .damaged: return false
            }
        }
    }
}
