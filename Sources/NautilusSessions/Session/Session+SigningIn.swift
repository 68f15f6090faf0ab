import Foundation
import Nautilus

extension Session {
    /// Begins a session, in place of the one before: in this process at once, in the others as soon as it is saved.
    ///
    /// Calls of the session before fail, and never go out with the new credential; a renewal of it that is under way
    /// comes to nothing.
    ///
    /// - Parameters:
    ///   - credential: The credential that a sign-in has brought.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before, in the
    ///     background and until it has been reached. Default: false, since it may be the same user, who signs in for a
    ///     wider scope, and there are servers that end everything which a user has ever allowed an app when one
    ///     credential of it is revoked. Pass true for another user, or call ``signOut()`` first.
    /// - Throws: ``SessionError`` when it could not be saved. The user is signed in all the same, in this process, and
    ///   the saving is tried again: the sign-in need not be repeated.
    public func signIn(
        _ credential: Credential,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(SessionError) {
        try await shared.signIn(credential, revokingReplaced: revokesReplaced)
    }

    /// Ends the session that goes on when this is called: in this process at once, before anything is waited for, and
    /// in the others as soon as the store takes a note of it, which needs no lock. Then the record is removed from the
    /// store, and the server is asked to forget the credential where the ``SessionRules`` say how.
    ///
    /// No store keeps the user signed in here: one that hangs, cannot be read or is locked elsewhere only delays what
    /// is left to do, and a damaged record is removed. A user who signs in while this goes on stays signed in.
    ///
    /// - Throws: ``SessionError`` of the removal, or else of kind ``SessionError/Kind/notRevoked``, when they failed;
    ///   both were tried. The user is signed out all the same, and what could not be done now is tried again in the
    ///   background.
    public func signOut() async throws(SessionError) {
        let ended = await shared.signOut()
        async let revocation = revocation(of: ended)
        var failure: SessionError?
        do throws(SessionError) {
            try await shared.write()
        } catch {
            failure = error
        }
        let refusal = await revocation
        if let failure = failure ?? refusal { throw failure }
    }

    private func revocation(of credential: Credential?) async -> SessionError? {
        guard let credential else { return nil }
        return await shared.revoke(credential)
    }

    /// Waits for the renewal that is in flight, if there is one, and saves what could not be saved before. A
    /// command-line tool does this before it ends, so that no renewed credential is lost with the process: a renewal
    /// goes on when the call that asked for it has failed or was cancelled, and may run in the background of one that
    /// has succeeded.
    ///
    /// - Throws: ``SessionError`` when it still cannot be saved, and of kind ``SessionError/Kind/cancelled`` as soon as
    ///   the task is cancelled during the wait. Returns at once when there is nothing to wait for or to save.
    public func flush() async throws(SessionError) {
        do {
            try await coordinator.waitForRefresh()
        } catch {
            throw SessionError(.cancelled)
        }
        try await shared.write()
    }
}
