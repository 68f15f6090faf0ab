import Foundation
import Nautilus

/// One refresh among all processes. The steps, in order:
///
/// 1. take the store's lock, which a killed process gives up;
/// 2. read the store again: what another process has refreshed meanwhile is adopted, and nothing is sent;
/// 3. note in the store that the refresh token is being sent, so that no later process takes it for unspent;
/// 4. send it;
/// 5. save what it brings, *then* publish it to the calls of this process (the coordinator does);
/// 6. give the lock back.
extension SharedCredential {
    func refresh(_ tried: OAuthCredential) async throws -> Coordinator.Renewal {
        let lock: any CredentialLock
        switch try await lockForRefresh(of: tried) {  // 1
        case .answered(let adopted): return Coordinator.Renewal(credential: adopted)
        case .locked(let taken): lock = taken
        }
        do {
            let base = try await latest(after: tried)  // 2
            let fresh = base.credential != tried && serves(base.credential) ? base : try await renew(base)  // 3 to 5
            return Coordinator.Renewal(credential: fresh.credential) { self.release(lock) }  // 6
        } catch {
            release(lock)
            throw error
        }
    }

    /// The lock; or, while another process holds it, the credential that it was taken for.
    private func lockForRefresh(of tried: OAuthCredential) async throws(OAuthError) -> Locking<OAuthCredential> {
        try await store.lock(orKept: takeKeptLock) { () throws(OAuthError) in
            guard let stored = try await self.changed()?.credential else { return nil }
            return stored != tried && self.serves(stored) ? stored : nil
        }
    }

    /// The record if it has changed since it was last looked at; nil when it has not.
    private func changed() async throws(OAuthError) -> StoredCredential? {
        let known = state.withLock { $0.version }
        guard try await store.version() != known else { return nil }
        return try await latest()
    }

    /// The record to go on with: the store's, or what could not be saved to it.
    ///
    /// - Throws: ``OAuthError/Kind/superseded`` when the session is over; calls have heard of it by then.
    private func latest(after tried: OAuthCredential? = nil) async throws(OAuthError) -> StoredCredential {
        while true {
            let (epoch, known) = present()
            guard let record = known.record else { throw OAuthError(.superseded) }
            switch known.unsaved {
            case .renewal: return record
            // The refresh is of the session before.
            case .signIn, .signOut: throw OAuthError(.superseded)
            case nil: break
            }
            let look = try await store.look()
            if let stored = look.stored, stored.session == record.session {
                note(look, of: stored)
                return stored
            }
            // Somebody has signed in or out in another process.
            guard follow(look, from: known, since: epoch) else { continue }
            throw OAuthError(.superseded)
        }
    }

    /// Notes a look at the store; what it shows is published by the refresh itself.
    private func note(_ look: SharedStore.Look, of stored: StoredCredential) {
        state.withLock { state in
            guard state.record?.session == stored.session, state.unsaved == nil else { return }
            (state.record, state.version) = (stored, look.version)
        }
    }

    private func serves(_ credential: OAuthCredential) -> Bool {
        credential.remainingLifetime(at: endpoint.wallClock()) != .zero
    }
}

extension SharedCredential {
    /// Steps 3 to 5.
    private func renew(_ base: StoredCredential) async throws -> StoredCredential {
        guard case .clientCredentials(let scope) = renewal else { return try await spend(base) }
        // Nothing is spent: no note, and no harm in asking twice.
        return await saved(base.replacing(try await endpoint.clientCredentials(scope: scope)))
    }

    private func spend(_ first: StoredCredential) async throws -> StoredCredential {
        var base = first
        while true {
            // Its answers have been lost: another one would tell no more.
            guard mayBeSent(base) else { throw await end(base, OAuthError(.answerLost)) }
            base.unanswered += 1
            await mark(base)
            do throws(OAuthError) {
                return await saved(base.replacing(try await endpoint.refresh(base.credential)))
            } catch {
                // The server has not taken it: as before.
                guard error.endsSession || error.mayHaveSpent else {
                    base.unanswered -= 1
                    await mark(base)
                    throw error
                }
                // Another process, one that heeds no lock, may have been quicker.
                if let successor = try await successor(of: base) {
                    if serves(successor.credential) { return successor }
                    base = successor
                    continue
                }
                if error.endsSession { throw await end(base, error) }
                guard error.kind == .answerLost else { throw error }
                if mayBeSent(base) { try await store.pause(beforeRetry: base.unanswered) }
            }
        }
    }

    private func mayBeSent(_ record: StoredCredential) -> Bool {
        record.unanswered <= store.sharing.lostAnswerRetries
    }

    /// Notes how often the refresh token has been sent. Without the note the refresh goes on: what it prevents is rare,
    /// and a full disk is not.
    private func mark(_ record: StoredCredential) async {
        do throws(OAuthError) {
            try await save(record)
        } catch {
            storeFailed(error)
        }
    }

    /// The record, saved or, where the store fails, kept in memory: what the server has issued is never lost.
    private func saved(_ record: StoredCredential) async -> StoredCredential {
        do throws(OAuthError) {
            try await save(record)
        } catch {
            keep(record, because: error)
        }
        return record
    }

    /// What has taken the place of a record whose refresh failed; nil when nothing has.
    private func successor(of record: StoredCredential) async throws(OAuthError) -> StoredCredential? {
        let latest: StoredCredential
        do throws(OAuthError) {
            latest = try await self.latest()
        } catch  where error.kind != .superseded {
            // The store cannot be read: then what is known counts.
            return nil
        }
        return latest.credential != record.credential ? latest : nil
    }

    /// Ends the session: the record goes, if it is still the one that was tried.
    private func end(_ tried: StoredCredential, _ error: OAuthError) async -> TerminalRefreshFailure {
        state.withLock { state in
            guard state.record?.session == tried.session else { return }
            (state.record, state.unsaved) = (nil, .signOut(session: tried.session))
        }
        do throws(OAuthError) {
            try await remove(tried.session) { $0.credential == tried.credential }
        } catch {
            storeFailed(error)
            tryAgain()
        }
        return TerminalRefreshFailure(error.description, underlying: error)
    }
}

extension StoredCredential {
    fileprivate func replacing(_ fresh: OAuthCredential) -> StoredCredential {
        StoredCredential(session: session, credential: fresh)
    }
}

extension OAuthError {
    /// Whether the refresh token may be spent though nothing came of it: the request was sent, and no answer is known.
    fileprivate var mayHaveSpent: Bool {
        switch kind {
        case .answerLost: true
        case .cancelled: httpError.map { $0.delivery != .notSent } ?? false
        default: false
        }
    }
}
