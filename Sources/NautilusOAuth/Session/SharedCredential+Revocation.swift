import Foundation
import Nautilus

/// What the server is asked to forget, once a session is over.
extension SharedCredential {
    /// Has the server forget the tokens of a session, now or, where it cannot be reached, as soon as it can.
    ///
    /// - Returns: Why it has not been done now; nil when it has, or the server has no endpoint for it.
    func revoke(_ credential: OAuthCredential) async -> OAuthError? {
        guard endpoint.server.revocationEndpoint != nil else { return nil }
        do throws(OAuthError) {
            try await endpoint.revoke(credential)
            return nil
        } catch {
            if error.isWorthAnotherTry { revokeLater(credential) }
            return error
        }
    }

    /// The same from the background, for tokens of which no caller waits to hear.
    func revokeInBackground(_ credential: OAuthCredential) {
        BackgroundTask.start { [weak self] in _ = await self?.revoke(credential) }
    }

    /// Has the server forget what a refresh has brought for a session that was signed out of meanwhile.
    func revokeIfSignedOut(_ late: StoredCredential) {
        guard state.withLock({ $0.revokedSession == late.session }) else { return }
        revokeInBackground(late.credential)
    }

    /// Tries for as long as the session's object is there: an app is offline for hours.
    private func revokeLater(_ credential: OAuthCredential) {
        BackgroundTask.start { [weak self, store] in
            for retry in 1... {
                guard (try? await store.pause(beforeRetry: retry)) != nil, let self else { return }
                do throws(OAuthError) {
                    return try await self.endpoint.revoke(credential)
                } catch {
                    guard error.isWorthAnotherTry else { return }
                }
            }
        }
    }
}

extension OAuthError {
    /// The caller may have left, and the revocation is due all the same.
    fileprivate var isWorthAnotherTry: Bool { isTransient || kind == .cancelled }
}
