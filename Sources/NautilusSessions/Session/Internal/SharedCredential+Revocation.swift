import Foundation
import Nautilus

/// Revocation, once a session is over.
extension SharedCredential {
    /// Has the server forget the credential of a session: now or, if the server cannot be reached, as soon as it can.
    ///
    /// - Parameter sparesOthers: Whether nothing is revoked if another session is stored, which may be the same user's.
    ///   Default: false, for another user's credential.
    /// - Returns: The failure; nil when the credential is revoked, or the server need not be told.
    func revoke(_ credential: Credential, sparingOthers sparesOthers: Bool = false) async -> SessionError? {
        guard rules.revoke != nil, !isInUse(credential) else { return nil }
        if sparesOthers {
            // A store that cannot be read is no reason to leave the credential alive.
            if let glance = try? await store.glance(), isOfAnother(glance) { return nil }
            // A sign-in may have brought it again during the look.
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

    /// Whether a sign-in has brought the credential again, as from a server with one token for each user, or one that
    /// the server forgets along with it.
    private func isInUse(_ credential: Credential) -> Bool {
        state.withLock { $0.record?.credential }.map { rules.areForgottenTogether(credential, $0) } ?? false
    }

    /// Revokes a credential in the background, when no caller waits for the result.
    ///
    /// - Parameter sparesOthers: Whether the revocation waits for the next sign-out if another session is stored, which
    ///   may be the same user's. Default: false, for another user's credential.
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

    /// Whether a session is stored that has neither begun nor ended here.
    private func isOfAnother(_ glance: SharedStore<Credential>.Glance) -> Bool {
        state.withLock { state in
            glance.stored.map { $0.session != state.begunHere && !state.isOver($0.session) } ?? false
        }
    }

    /// Revokes the refreshed credential of a session that was ended elsewhere, since the process where the user signed
    /// out does not know of it. When another session has taken this one's place, that waits for the next sign-out: it
    /// may be the same user's, and revoking one credential could end everything that user has ever granted.
    ///
    /// - Parameter isReplaced: Whether another session is known to be stored. Default: false.
    func revokeUnlessReplaced(_ late: Record, isReplaced: Bool = false) {
        // It is found in several places: by whoever notices the end, and by the refresh itself.
        let isNews = state.withLock { state in
            if let known = state.lateSessions[late.session], known >= late.refreshCount { return false }
            state.lateSessions[late.session] = late.refreshCount
            return true
        }
        guard isNews else { return }
        if isReplaced { return spare(late.credential) }
        let check = BackgroundTask.start { [weak self, store] in
            // A sign-in ends the session before, then waits for the lock, which is held here, and keeps it until it is
            // stored. Each may take as long as its store needs.
            try? await store.clock.sleep(for: store.limit.clampedToCentury)
            // Whose store is that slow, or cannot be read, may have another session.
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

    /// Notes that the server is asked to forget the credential of a record, for refreshes of its session that are still
    /// running, and for a later credential that the store may have.
    func noteRevocation(of record: Record?, in state: inout State) {
        guard let record else { return }
        state.forgotten[record.session] = record.refreshCount
        noteRevocation(of: record.session, in: &state)
    }

    /// Notes that the server is asked to forget the credential of a session, for refreshes of it that are still
    /// running. A refresh that begins later is of another session.
    func noteRevocation(of session: UUID, in state: inout State) {
        if state.refreshes > 0 { state.revokedSessions.insert(session) }
    }

    /// Has the server forget a credential that is found after its user has signed out here, if another process has
    /// refreshed the one that the server was asked to forget.
    func revokeIfRefreshed(_ stored: StoredCredential?) {
        guard let stored, state.withLock({ $0.findsForgotten(stored) }) else { return }
        guard let credential = try? stored.credential(as: Credential.self) else { return }
        revokeInBackground(credential, sparingOthers: true)
    }

    /// Has the server forget the result of a refresh whose session was signed out meanwhile. After another user's
    /// sign-in it waits until nobody is signed in.
    func revokeLate(_ late: Record) {
        let (isAsked, endedHere) = state.withLock { state in
            (state.revokedSessions.contains(late.session), state.isOver(late.session))
        }
        if isAsked {
            revokeInBackground(late.credential)
        } else if endedHere {
            spare(late.credential)
        } else {
            // Another process has ended the session, which a call here has noticed before the refresh did.
            revokeUnlessReplaced(late)
        }
    }

    /// Has the server forget a refreshed credential whose session has ended elsewhere, as a look has shown. What a
    /// server has ended itself need not be revoked.
    func revokeLate(_ late: Record, endedAsIn look: SharedStore<Credential>.Snapshot) {
        if !look.hasExpired { revokeUnlessReplaced(late, isReplaced: !look.isSignOut) }
    }

    /// Retries for as long as the session's object lives, since an app may be offline for hours. The next sign-in, here
    /// or in another process, stops the retries, unless it asks here to revoke the session before: it may be the same
    /// user, and some servers would end that user's new session along with the old credential.
    private func revokeLater(_ credential: Credential) {
        let signIns = state.withLock { $0.sparingSignIns }
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { return }
                guard self.state.withLock({ $0.sparingSignIns == signIns }), !self.isInUse(credential) else { return }
                // Nor may it end the session of a sign-in elsewhere; one that cannot be looked for may be there.
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

    /// Whether to try again after `error`. A cancellation means that the caller may have left; the revocation is due
    /// all the same. An error of any other kind may never pass, and would not be reported.
    private static func isWorthAnotherTry(_ error: any Error) -> Bool {
        let cause = (error as? any WrappingError)?.wrapped ?? error
        for error in [error, cause] where error is CancellationError || (error as? HttpError)?.kind == .cancelled {
            return true
        }
        return (error as? any RefreshFailure)?.isTransient ?? false
    }
}
