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
            do {
                return .success(try await rules.revoke?(credential) ?? ())
            } catch {
                return .failure(error)
            }
        }
    }

    /// The same from the background, for a credential of which no caller waits to hear.
    func revokeInBackground(_ credential: Credential) {
        BackgroundTask.start { [weak self] in _ = await self?.revoke(credential) }
    }

    /// Has the server forget what a refresh has brought for a session that was signed out of meanwhile.
    func revokeIfSignedOut(_ late: Record) {
        guard state.withLock({ $0.revokedSession == late.session }) else { return }
        revokeInBackground(late.credential)
    }

    /// Tries for as long as the session's object is there: an app is offline for hours.
    private func revokeLater(_ credential: Credential) {
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { return }
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
