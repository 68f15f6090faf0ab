import Nautilus

extension Session {
    /// Ends the current session: in this process at once, before waiting for anything, and in the others as soon as the
    /// store has noted the end, which needs no lock. Then removes the record from the store, and asks the server to
    /// forget the credential if the ``SessionRules`` say how.
    ///
    /// No store can keep the user signed in here: one that hangs or cannot be read only delays the rest of the work, and
    /// a damaged record is removed. While another process holds the lock, this succeeds as soon as the store has noted
    /// the end: the record, which no process is shown any more, is removed once the lock is free. A user who signs in
    /// while this runs stays signed in.
    ///
    /// A renewal that is on its way is not cut off, since the server may have made a new credential already: this waits
    /// for its answer, up to a minute, and has the server forget that credential, too. Calls of the session do not wait
    /// for it: they fail at once with `RefreshError.signedOut`.
    ///
    /// From here on, no request with the credential is handed to a transport, and one that waits in a transport for a
    /// connection is not written: transports ask `HttpRequest.refusal`. Two kinds of requests still go
    /// out. A request already handed to Foundation's `URLSession`, the default on Apple's platforms, is sent if it is
    /// queued or its connection is being made there. And another process looks before each attempt, so that a request
    /// already handed to its transport is sent. The answer to a request already sent still reaches its caller: what the
    /// server has done is done.
    ///
    /// If the session is already over, signed out or expired, here or elsewhere, nothing is left to end; a user who has
    /// signed in elsewhere since, unknown to this process, is not affected. A process that has not read the store yet
    /// signs out whoever is stored. If the store cannot be read now, or may be behind, that is whoever is stored once
    /// it can be read, or once the lock is held; a process that can have the lock keeps it until then, so that no later
    /// user is stored meanwhile. While another session is stored, nothing is revoked, since it may be the same user's.
    ///
    /// Await this call directly. In `Task { try? await session.signOut() }` it begins only when the task does, perhaps
    /// after the next user has signed in, and would sign that user out; use ``signOutNow()`` there.
    ///
    /// - Throws: ``SessionError`` of the removal or else, of kind ``SessionError/Kind/notRevoked``, of the revocation;
    ///   both are tried. The user is signed out all the same, and whatever failed is tried again in the background,
    ///   with two exceptions. A record that is foreign or of a newer format is left alone. And the revocation is
    ///   retried only as long as this object lives, not by the next launch: the credential would have to be kept for
    ///   that, on a device whose user has asked for it to be gone. The next sign-in that does not ask for the
    ///   revocation also stops it, for the reason given at ``signIn(_:revokingReplaced:)``.
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
