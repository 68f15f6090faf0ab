import Foundation
import Nautilus

/// One refresh among all processes. The steps, in order:
///
/// 1. take the store's lock, which a killed process gives up;
/// 2. read the store again: what another process has refreshed meanwhile is adopted, and nothing is sent;
/// 3. note in the store that the credential is being sent, so that no later process takes it for unspent;
/// 4. send it;
/// 5. save what it brings;
/// 6. give the lock back, and only now let the coordinator publish it to the calls of this process.
extension SharedCredential {
    func refresh(_ tried: Credential) async throws -> Credential {
        let watch = Stopwatch(store.clock)
        let session = state.withLock { state in
            state.refreshes += 1
            return state.record?.session
        }
        defer { state.withLock { $0.refreshes -= 1 } }
        let lock: any CredentialLock
        switch try await lockForRefresh(of: tried) {  // 1
        case .answered(let adopted): return adopted
        case .locked(let taken): lock = taken
        }
        defer { release(lock) }  // 6
        await saveSignIn(with: tried, under: lock)
        await adoptEndWhileUnsaved()
        let base = try await latest(after: tried)  // 2
        // A sign-in of another process has come before the one of this process.
        guard base.session == session else { throw SessionError(.superseded) }
        if base.credential != tried && serves(base) { return base.credential }
        do {
            let refreshed = try await refresh(base, lock, watch)  // 3 to 5
            try await checkEnd(of: refreshed)
            // If the lock was lost, another process may have refreshed as well, and its record counts.
            return state.withLock { $0.record?.session == refreshed.session ? $0.record?.credential : nil }
                ?? refreshed.credential
        } catch {
            // The server's refusal concerns only this very credential: another process may have a newer one.
            if !(error is RefreshError.Terminal) { await endIfOver(base.session) }
            throw error
        }
    }

    /// Saves a sign-in that could not be saved before. If that fails again, the credential is refreshed in memory.
    private func saveSignIn(with credential: Credential, under lock: any CredentialLock) async {
        guard case .signIn(let record) = state.withLock({ $0.unsaved }), record.credential == credential else { return }
        do throws(SessionError) {
            try await saveSignIn(record.session, under: lock)
        } catch {
            storeFailed(error)
        }
    }

    /// Ends a session for the other processes, with the lock still held, if it is over in this one. Its refresh was
    /// cancelled, perhaps after the credential was sent, and the next holder of the lock would send the credential once
    /// more.
    private func endIfOver(_ session: UUID) async {
        guard state.withLock({ $0.record?.session != session }) else { return }
        // The task is cancelled, but this has to be done all the same.
        await BackgroundTask.start { [store] in _ = try? await store.end(session) }.value
    }

    /// Checks whether the session was ended during the refresh, here or by another process, which needs no lock for
    /// that.
    ///
    /// - Throws: ``SessionError/Kind/superseded`` when it was; calls have been told by then.
    private func checkEnd(of refreshed: Record) async throws(SessionError) {
        let (epoch, known) = present()
        // The refreshed record may not even be saved, if the sign-in or sign-out has cancelled that.
        guard known.record?.session == refreshed.session else {
            revokeLate(refreshed)
            throw SessionError(.superseded)
        }
        // An unsaved record cannot be in the store, and a store that cannot be read tells nothing.
        guard known.unsaved == nil, let look = try? await look() else { return }
        guard look.stored?.session != refreshed.session, follow(look, from: known, since: epoch) else { return }
        revokeLate(refreshed, endedAsIn: look)
        throw SessionError(.superseded)
    }

    /// The lock; or, if another process has refreshed while holding it, the new credential.
    private func lockForRefresh(of tried: Credential) async throws(SessionError) -> Locking<Credential> {
        try await store.lock(orKept: takeKeptLock) { () throws(SessionError) in
            guard let stored = try await self.changed(since: tried) else { return nil }
            return stored.credential != tried && self.serves(stored) ? stored.credential : nil
        }
    }

    /// The record if the store has changed since the last look; nil if not.
    private func changed(since tried: Credential) async throws(SessionError) -> Record? {
        let known = state.withLock { $0.version }
        guard try await store.version() != known else { return nil }
        return try await latest(after: tried)
    }

    /// The record to go on with: the store's, or one that could not be saved to it.
    ///
    /// - Throws: ``SessionError/Kind/superseded`` when the session is over; calls have been told by then.
    func latest(after tried: Credential) async throws(SessionError) -> Record {
        while true {
            let (epoch, known) = present()
            guard let record = known.record else { throw SessionError(.superseded) }
            switch known.unsaved {
            case .refresh(let record): return record
            case .signIn(let record) where record.credential == tried: return record
            // The refresh belongs to the session before.
            case .signIn, .signOut, .expiry: throw SessionError(.superseded)
            case nil: break
            }
            let look = try await look()
            if let stored = look.stored, stored.session == record.session {
                note(look, of: stored)
                return stored
            }
            // Somebody has signed in or out in another process.
            guard follow(look, from: known, since: epoch) else { continue }
            throw SessionError(.superseded)
        }
    }

    /// Notes the result of a look at the store; the refresh itself publishes it.
    private func note(_ look: SharedStore<Credential>.Snapshot, of stored: Record) {
        state.withLock { state in
            guard state.record?.session == stored.session, state.unsaved == nil else { return }
            (state.record, state.version) = (stored, look.version)
        }
    }

    func serves(_ record: Record) -> Bool {
        record.cameExpired || rules.lifetime(record.credential).map { $0 > .zero } ?? true
    }
}
