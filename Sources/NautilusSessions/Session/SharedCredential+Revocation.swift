import Foundation
import Nautilus

/// Revocation, once a session is over.
extension SharedCredential {
    /// Has the server forget the credential of a session, now or, where it cannot be reached, as soon as it can.
    ///
    /// - Returns: The failure; nil when it is revoked, or the server need not be told.
    func revoke(_ credential: Credential) async -> SessionError? {
        guard rules.revoke != nil else { return nil }
        guard let outcome = await tryToRevoke(credential) else {
            revokeLater(credential)
            return SessionError(.notRevoked)
        }
        guard case .failure(let error) = outcome else { return nil }
        if Self.isWorthAnotherTry(error) { revokeLater(credential) }
        return SessionError(.notRevoked, underlying: error)
    }

    /// One try.
    ///
    /// - Returns: Nil when it has not ended within a minute: the two requests of OAuth's take 50 s at most.
    private func tryToRevoke(_ credential: Credential) async -> Result<Void, any Error>? {
        await store.wait(atMost: .seconds(60)) { [rules] in
            await HttpError.keeping {
                do {
                    return .success(try await CredentialWork.run { try await rules.revoke?(credential) ?? () })
                } catch {
                    return .failure(HttpError.behind(error) ?? error)
                }
            }
        }
    }

    /// The same from the background, for a credential of which no caller waits to hear.
    func revokeInBackground(_ credential: Credential) {
        BackgroundTask.start { [weak self] in _ = await self?.revoke(credential) }
    }

    /// The same for a renewed credential of a session that has been ended elsewhere: the process where the user has
    /// signed out does not know of it. Where the next session has taken this one's place, nothing is revoked: it may be
    /// the same user's, and all that this one has ever been granted could end with the credential.
    func revokeUnlessReplaced(_ credential: Credential) {
        BackgroundTask.start { [weak self, store] in
            // The sign-in waits for the lock that is held here, and is stored then.
            try? await store.clock.sleep(for: .seconds(2))
            guard (try? await store.glance())?.stored == nil else { return }
            _ = await self?.revoke(credential)
        }
    }

    /// Notes that the server is asked to forget the credential of a session, for a refresh of it that still runs. A
    /// refresh that begins later is of another session.
    func noteRevocation(of session: UUID?, in state: inout State) {
        if let session, state.refreshes > 0 { state.revokedSessions.insert(session) }
    }

    /// Has the server forget what a refresh has brought for a session that was signed out of meanwhile.
    func revokeIfSignedOut(_ late: Record) {
        guard state.withLock({ $0.revokedSessions.contains(late.session) }) else { return }
        revokeInBackground(late.credential)
    }

    /// Tries for as long as the session's object is there: an app is offline for hours. It ends with the next sign-in, unless
    /// that asks for the revocation of the session before: it may be the same user, whose new session some servers would
    /// end with the old credential.
    private func revokeLater(_ credential: Credential) {
        let signIns = state.withLock { $0.sparingSignIns }
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { return }
                guard self.state.withLock({ $0.sparingSignIns == signIns }) else { return }
                switch await self.tryToRevoke(credential) {
                case .success: return
                case .failure(let error) where !Self.isWorthAnotherTry(error): return
                case .failure, nil: continue
                }
            }
        }
    }

    /// Whether to try again after `error`. If it is a cancellation, the caller may have left, and the revocation is due
    /// all the same. An error of any other kind may never pass, and would not be reported.
    private static func isWorthAnotherTry(_ error: any Error) -> Bool {
        if error is CancellationError || (error as? HttpError)?.kind == .cancelled { return true }
        return (error as? any RefreshFailure)?.isTransient ?? false
    }
}
