import Nautilus

extension Session {
    /// Begins a session, in place of the one before: in this process at once, in the others as soon as it is saved.
    ///
    /// The one before ends in all processes at once, as by ``signOut()``: that needs no lock, and should this process end
    /// before it has saved the new one, nobody is signed in, and not the user before.
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
    ///   the saving is tried again: the sign-in need not be repeated. Where the store could not be read either, it takes the
    ///   place of whoever is stored when it can be. Of two sign-ins at once in two processes, the one
    ///   that is saved first counts, and the other throws ``SessionError/Kind/superseded``; one that knows of the
    ///   session whose place it takes always counts.
    public func signIn(
        _ credential: Credential,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(SessionError) {
        try await shared.signIn(credential, revokingReplaced: revokesReplaced)
    }

    /// Begins a session with the credential that a request brings, a login: sent as a guest, and then taken as by
    /// ``signIn(_:revokingReplaced:)``.
    ///
    /// ```swift
    /// public func signIn(email: String, password: String) async throws(ShopError) {
    ///     try await session.signIn(by: Login(email: email, password: password), with: self)
    /// }
    /// ```
    /// - Parameters:
    ///   - request: The request whose result is the credential.
    ///   - service: The service of the session's own environment, and no switch between several.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before. Default: false.
    /// - Throws: The service's error: of the request, and then nobody has signed in; or made of an `HttpError` with the
    ///   ``SessionError`` underneath, when the credential could not be saved: then the user is signed in all the same.
    public func signIn<R: Request, S: HttpService>(
        by request: R,
        with service: S,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(S.RequestError) where R.Result == Credential {
        let credential = try await request.schedule(with: service.signedOut)
        do throws(SessionError) {
            try await signIn(credential, revokingReplaced: revokesReplaced)
        } catch {
            let thrown: any Error = error.kind == .cancelled ? CancellationError() : error
            throw service.mapError(HttpError(wrapping: thrown, stage: .decode, delivery: .maybeExecuted))
        }
    }
}
