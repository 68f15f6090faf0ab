import Foundation
import Nautilus

/// Revocation, once a session is over.
extension SharedCredential {
    /// Asks the server to forget a credential: now, and again later if the server cannot be reached.
    ///
    /// - Parameter sparesOthers: Whether to revoke nothing if another session is stored, since that session may be the
    ///   same user's. Default: false, for the credential of another user.
    /// - Returns: The failure; nil if the credential is revoked, or must not or need not be revoked.
    func revoke(_ credential: Credential, sparingOthers sparesOthers: Bool = false) async -> SessionError? {
        guard rules.revoke != nil, !isInUse(credential) else { return nil }
        if sparesOthers {
            // If the store cannot be read, the credential is revoked all the same.
            if let glance = try? await store.glance(), isOfAnother(glance) { return nil }
            // A sign-in may have brought the same credential again while the store was read.
            if isInUse(credential) { return nil }
        }
        guard let outcome = await tryToRevoke(credential) else {
            revokeLater(credential)
            return SessionError(.notRevoked)
        }
        guard case .failure(let error) = outcome else { return nil }
        if Self.isWorthAnotherTry(error) { revokeLater(credential) }
        return SessionError(.notRevoked, underlying: error)
    }

    /// Tries once to revoke a credential.
    ///
    /// - Returns: Nil when the try has not ended within a minute; OAuth's two requests take 50 s at most.
    private func tryToRevoke(_ credential: Credential) async -> Result<Void, any Error>? {
        await store.wait(atMost: .seconds(60)) { [rules] in
            do {
                return .success(try await CredentialWork.run { try await rules.revoke?(credential) ?? () })
            } catch {
                return .failure(error)
            }
        }
    }

    /// Whether the server would forget the credential of the present session together with this one. They may even be
    /// equal, if the server has one token for each user.
    private func isInUse(_ credential: Credential) -> Bool {
        state.withLock { $0.record?.credential }.map { rules.areForgottenTogether(credential, $0) } ?? false
    }

    /// Revokes a credential in the background, when no caller waits for the result.
    ///
    /// - Parameter sparesOthers: Whether the revocation waits for the next sign-out if another session is stored, since
    ///   that session may be the same user's. Default: false, for the credential of another user.
    func revokeInBackground(_ credential: Credential, sparingOthers sparesOthers: Bool = false) {
        background.add(
            BackgroundTask.start { [self] in
                guard rules.revoke != nil else { return }
                // No other process knows of the credential, so it must not be lost.
                if sparesOthers, let glance = try? await store.glance(), isOfAnother(glance) {
                    return state.withLock { $0.spared.append(credential) }
                }
                guard let failure = await revoke(credential) else { return }
                refusal.withLock { $0 = failure }
            }
        )
    }

    /// Whether the stored session is one that has neither begun nor ended in this process.
    private func isOfAnother(_ glance: SharedStore<Credential>.Glance) -> Bool {
        state.withLock { state in
            glance.stored.map { $0.session != state.begunHere && !state.isOver($0.session) } ?? false
        }
    }

    /// Revokes a refreshed credential whose session another process has ended, since that process does not know of the
    /// credential. If another session is stored, the revocation waits for the next sign-out: that session may be the
    /// same user's, and some servers revoke all credentials of a user together.
    ///
    /// - Parameter isReplaced: Whether another session is known to be stored. Default: false.
    func revokeUnlessReplaced(_ late: Record, isReplaced: Bool = false) {
        // Several callers find the same credential: the one that notices the end, and the refresh itself.
        let isNews = state.withLock { state in
            if let known = state.lateSessions[late.session], known >= late.refreshCount { return false }
            state.lateSessions[late.session] = late.refreshCount
            return true
        }
        guard isNews else { return }
        if isReplaced { return spare(late.credential) }
        let check = BackgroundTask.start { [weak self, store] in
            // A sign-in in another process ends the old session, waits for the lock, which this process still holds,
            // and holds the lock until the new session is stored. Each step may take as long as the store needs.
            try? await store.clock.sleep(for: store.limit.clampedToCentury)
            // If the store is even slower, or cannot be read, it may have another session.
            let lock = await store.lockInTime()
            let glance = lock == nil ? nil : try? await store.glance()
            if let lock { store.unlock(lock) }
            guard let glance, glance.stored == nil else {
                // The next sign-out revokes it.
                self?.state.withLock { $0.spared.append(late.credential) }
                return
            }
            _ = await self?.revoke(late.credential)
        }
        checks.add(check)
    }

    /// Notes that the server is asked to forget the credential of a record. If a refresh of its session is still
    /// running, or the store has a later credential of the session, that credential is revoked, too.
    func noteRevocation(of record: Record?, in state: inout State) {
        guard let record else { return }
        state.forgotten[record.session] = record.refreshCount
        noteRevocation(of: record.session, in: &state)
    }

    /// Notes that the server is asked to forget the credential of a session. The results of refreshes that are still
    /// running are then revoked, too. A refresh that begins later belongs to another session.
    func noteRevocation(of session: UUID, in state: inout State) {
        if state.refreshes > 0 { state.revokedSessions.insert(session) }
    }

    /// Revokes a stored credential whose user has signed out in this process, if another process has refreshed the
    /// credential since: the server was asked to forget only the older one.
    func revokeIfRefreshed(_ stored: StoredCredential?) {
        guard let stored, state.withLock({ $0.findsForgotten(stored) }) else { return }
        guard let credential = try? stored.credential(as: Credential.self) else { return }
        revokeInBackground(credential, sparingOthers: true)
    }

    /// Revokes the result of a refresh whose session has ended meanwhile. If somebody else has signed in, the
    /// revocation waits until nobody is signed in.
    func revokeLate(_ late: Record) {
        let (isAsked, endedHere) = state.withLock { state in
            (state.revokedSessions.contains(late.session), state.isOver(late.session))
        }
        if isAsked {
            revokeInBackground(late.credential)
        } else if endedHere {
            spare(late.credential)
        } else {
            // Another process has ended the session, and a call of this process has noticed that before the refresh
            // did.
            revokeUnlessReplaced(late)
        }
    }

    /// Revokes a refreshed credential whose session another process has ended, as a look at the store has shown. If the
    /// server itself has ended the session, nothing is revoked.
    func revokeLate(_ late: Record, endedAsIn look: SharedStore<Credential>.Snapshot) {
        if !look.hasExpired { revokeUnlessReplaced(late, isReplaced: !look.isSignOut) }
    }

    /// Tries again for as long as the session's object exists, since an app may be offline for hours. The next sign-in,
    /// here or in another process, stops the tries: it may be the same user's, and some servers would end the new
    /// session along with the old credential. A sign-in here that asks to revoke the session before it does not stop
    /// them.
    private func revokeLater(_ credential: Credential) {
        let signIns = state.withLock { $0.sparingSignIns }
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { return }
                guard self.state.withLock({ $0.sparingSignIns == signIns }), !self.isInUse(credential) else { return }
                // The revocation must not end the session of a sign-in in another process, either. If the store cannot
                // be read, such a session may be stored.
                guard let glance = try? await store.glance() else { continue }
                if self.isOfAnother(glance) { return }
                switch await self.tryToRevoke(credential) {
                case .success: return
                case .failure(let error) where !Self.isWorthAnotherTry(error): return
                case .failure, nil: continue
                }
            }
        }
    }

    /// Whether to try again after `error`. After a cancellation, nobody may wait for the result any more, but the
    /// credential must still be revoked. After any error that is not transient, further tries may all fail, and nobody
    /// would learn of it.
    private static func isWorthAnotherTry(_ error: any Error) -> Bool {
        let cause = (error as? any WrappingError)?.wrapped ?? error
        for error in [error, cause] where error is CancellationError || (error as? HttpError)?.kind == .cancelled {
            return true
        }
        return (error as? any RefreshFailure)?.isTransient ?? false
    }
}
