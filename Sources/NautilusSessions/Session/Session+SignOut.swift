import Nautilus

extension Session {
    /// Ends the current session: in this process at once, before waiting for anything, and in the others as soon as the
    /// store has noted the end. Then removes the record from the store, and asks the server to forget the credential if
    /// the ``SessionRules`` say how. Calls of the session fail at once with `RefreshError.signedOut`. If a refresh is
    /// on its way, this waits for its answer, up to a minute, and has the server forget that credential, too. A user
    /// who signs in while this runs stays signed in. The guides `Sessions` and `SeveralProcesses` have the details.
    ///
    /// Await this call directly. In `Task { try? await session.signOut() }` it begins only when the task does, and
    /// might sign out the next user; use ``signOutNow()`` there.
    ///
    /// - Throws: ``SessionError`` of the removal, or of kind ``SessionError/Kind/notRevoked``. The user is signed out
    ///   all the same, and what failed is tried again in the background.
    public func signOut() async throws(SessionError) {
        try await finish(shared.beginSignOut())
    }

    /// Ends the current session without waiting: the user is signed out here when this returns, and for the next launch
    /// as well if the session is kept in a ``FileStore``, even if the process is killed right after. What ``signOut()``
    /// waits for goes on in the background, even if nobody waits for it.
    ///
    /// Suits a button, or any other place that cannot wait: a user who signs in afterwards stays signed in.
    ///
    /// ```swift
    /// Button("Sign out") { session.signOutNow() }
    /// ```
    /// - Returns: The rest of the sign-out, to wait for.
    @discardableResult
    public func signOutNow() -> SignOut {
        let ending = shared.beginSignOut()
        let failure = Locked<SessionError?>(nil)
        let task = BackgroundTask.start { [self] in
            do throws(SessionError) {
                try await finish(ending)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        shared.signOuts.add(task)
        return SignOut(task: task, failure: failure)
    }

    private func finish(_ ending: SharedCredential<Credential>.Ending) async throws(SessionError) {
        shared.refusal.withLock { $0 = nil }
        let ended = await shared.endForOthers(ending)
        async let revocation = revocation(of: ended)
        var failure: SessionError?
        do throws(SessionError) {
            try await shared.write()
        } catch {
            failure = error
        }
        let refusal = await revocation
        shared.revokeSpared()
        await shared.finishBackground()
        if let failure = failure ?? refusal ?? shared.refusal.withLock({ $0 }) { throw failure }
    }

    private func revocation(of credential: Credential?) async -> SessionError? {
        guard let credential else { return nil }
        return await shared.revoke(credential, sparingOthers: true)
    }
}

/// A sign-out that already counts in this process, and goes on in the background for the store, the other processes and
/// the server.
public struct SignOut: Sendable {
    fileprivate let task: Task<Void, Never>
    fileprivate let failure: Locked<SessionError?>

    /// Returns when the sign-out has ended, as ``Session/signOut()`` does. Cancelling the waiting task does not stop
    /// the sign-out.
    ///
    /// - Throws: The errors of ``Session/signOut()``.
    public func finish() async throws(SessionError) {
        await task.value
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
