import Foundation
import Nautilus

extension OAuthSession {
    /// Begins a session, in place of the one before: in this process at once, in the others as soon as it is saved.
    ///
    /// Calls of the session before fail, and never go out with the new credential; a refresh of it that is under way
    /// comes to nothing.
    ///
    /// - Parameter credential: What a sign-in has brought: ``TokenEndpoint`` knows the ways.
    /// - Throws: ``OAuthError`` when it could not be saved. The user is signed in all the same, in this process, and the
    ///   saving is tried again: nobody needs to repeat the sign-in.
    public func signIn(_ credential: OAuthCredential) async throws(OAuthError) {
        try await shared.signIn(credential)
    }

    /// Ends the session: in this process at once, then in the store, then at the server, which is asked to forget the
    /// tokens where it can be (RFC 7009).
    ///
    /// - Throws: ``OAuthError`` of the first of the last two steps that failed; the other one was done. The user is signed
    ///   out all the same, and what could not be removed from the store is tried again.
    public func signOut() async throws(OAuthError) {
        var (ended, failure) = await shared.signOut()
        if let ended, endpoint.server.revocationEndpoint != nil {
            do throws(OAuthError) {
                try await endpoint.revoke(ended)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Waits for the refresh that is in flight, if there is one, and saves what could not be saved before. A command-line
    /// tool does this before it ends, so that no rotated refresh token is lost with the process: a refresh goes on when
    /// the call that asked for it has failed or was cancelled, and may run in the background of one that has succeeded.
    ///
    /// - Throws: ``OAuthError`` when it still cannot be saved, and of kind ``OAuthError/Kind/cancelled`` as soon as the
    ///   task is cancelled during the wait. Returns at once when there is nothing to wait for or to save.
    public func flush() async throws(OAuthError) {
        do {
            try await coordinator.waitForRefresh()
        } catch {
            throw OAuthError(.cancelled)
        }
        try await shared.write()
    }
}
