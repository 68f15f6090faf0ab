import Nautilus

extension Session {
    /// Ends the session that goes on when this begins: in this process at once, before anything is waited for, and in
    /// the others as soon as the store takes a note of it, which needs no lock. Then the record is removed from the
    /// store, and the server is asked to forget the credential where the ``SessionRules`` say how.
    ///
    /// No store keeps the user signed in here: one that hangs, cannot be read or is locked elsewhere only delays what
    /// is left to do, and a damaged record is removed. A user who signs in while this goes on stays signed in.
    ///
    /// From here on no request with the credential goes to a transport, nor is one written that waits in it for a connection:
    /// transports ask `AttemptContext.endOfSession(of:)`. Two kinds of requests still go out: one that was handed to
    /// Foundation's `URLSession`, the default on Apple's platforms, may stand in its line or have its connection made; and
    /// another process looks before each attempt, so that what it has handed to its transport by then is sent. The answer to a
    /// request that was on its way still comes to its caller: what the server has done is done.
    ///
    /// Where the session is over already, signed out or expired, here or elsewhere, nothing is left to end, and a user who
    /// has signed in elsewhere since, of whom this process has not heard, is not meant. A process that has not read the
    /// store yet signs out whoever is stored; if it cannot be read now, whoever is stored when it can.
    ///
    /// To be awaited where it is called. In `Task { try? await session.signOut() }` it begins when the task does, which
    /// may be after the next user has signed in, who is signed out then: call ``signOutNow()`` there.
    ///
    /// - Throws: ``SessionError`` of the removal, or else of kind ``SessionError/Kind/notRevoked``, when they failed;
    ///   both were tried. The user is signed out all the same, and what could not be done now is tried again in the
    ///   background, with two exceptions. A record that is foreign or of a newer format is left alone. And the revocation
    ///   is tried as long as this object lives, and not by the next launch: for that the credential would have to be
    ///   kept, on a device whose user has asked for it to be gone. It also ends with the next sign-in that does not ask
    ///   for it, for the reason given at ``signIn(_:revokingReplaced:)``.
    public func signOut() async throws(SessionError) {
        try await finish(shared.beginSignOut())
    }

    /// Ends the session that goes on now, without a wait: the user is signed out here when this returns. What
    /// ``signOut()`` waits for goes on in the background, also when nobody waits for it.
    ///
    /// For a button, or any other place that cannot wait: a user who signs in afterwards stays signed in.
    ///
    /// ```swift
    /// Button("Sign out") { session.signOutNow() }
    /// ```
    /// - Returns: The rest of it, to wait for.
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
        return SignOut(task: task, failure: failure)
    }

    private func finish(_ ending: SharedCredential<Credential>.Ending) async throws(SessionError) {
        let ended = await shared.endForOthers(ending)
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
}

/// A sign-out that counts in this process already, and goes on in the background for the store, the other processes and
/// the server.
public struct SignOut: Sendable {
    fileprivate let task: Task<Void, Never>
    fileprivate let failure: Locked<SessionError?>

    /// Returns when it has ended, as ``Session/signOut()`` does. Cancelling the task that waits does not end it.
    ///
    /// - Throws: The errors of ``Session/signOut()``.
    public func finish() async throws(SessionError) {
        await task.value
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
