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
    /// ``signIn(_:revokingReplaced:)``. No redirect takes a password to another origin, nor is a credential taken from there.
    ///
    /// ```swift
    /// public func signIn(email: String, password: String) async throws(ShopError) {
    ///     try await session.signIn(by: Login(email: email, password: password), with: self)
    /// }
    /// ```
    /// A sign-out while the request is on its way wins, and so does a sign-in that has begun later: the credential is not
    /// taken. After a sign-out the server is asked to forget it, in the background.
    ///
    /// - Parameters:
    ///   - request: The request whose result is the credential.
    ///   - service: The service of the session's own environment, and no switch between several.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before, and that of a sign-in
    ///     which another one has overtaken. Default: false.
    /// - Throws: The service's error: of the request, and then nobody has signed in; or made of an `HttpError` with the
    ///   ``SessionError`` underneath: of kind ``SessionError/Kind/superseded`` when the user has signed out meanwhile, or
    ///   another in, and otherwise when the credential could not be saved: then the user is signed in all the same.
    public func signIn<R: Request, S: HttpService>(
        by request: R,
        with service: S,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(S.RequestError) where R.Result == Credential {
        let number = shared.beginSignIn()
        let answer = await CredentialWork.run { () async -> Result<Credential, S.RequestError> in
            do throws(S.RequestError) {
                return .success(try await request.schedule(with: service.signedOut))
            } catch {
                return .failure(error)
            }
        }
        let credential = try answer.get()
        do throws(SessionError) {
            try await shared.signIn(credential, revokingReplaced: revokesReplaced, begunAs: number)
        } catch {
            throw service.mapError(HttpError(error))
        }
    }

    /// Begins a session with the credential that some work brings: a code that is exchanged, a sign-in by the system.
    ///
    /// ```swift
    /// try await session.signIn { try await endpoint.token(for: callback, of: request) }
    /// ```
    /// What counts is when it begins: a sign-out meanwhile wins, and so does a sign-in that has begun later. That cannot be
    /// known where the credential is asked for first, and handed to ``signIn(_:revokingReplaced:)`` then.
    ///
    /// - Parameters:
    ///   - revokesReplaced: As in ``signIn(by:with:revokingReplaced:)``. Default: false.
    ///   - isolation: The caller's actor. Leave the default.
    ///   - work: Brings the credential. A call of its own may go through a service of the session, as a guest.
    /// - Throws: The error of `work`; ``SessionError``, as ``signIn(by:with:revokingReplaced:)``.
    public func signIn(
        revokingReplaced revokesReplaced: Bool = false,
        isolation: isolated (any Actor)? = #isolation,
        by work: () async throws -> Credential
    ) async throws {
        let number = shared.beginSignIn()
        let credential = try await CredentialWork.run(work)
        try await shared.signIn(credential, revokingReplaced: revokesReplaced, begunAs: number)
    }

    /// Signs out as ``signOut()`` does, with the error of a service.
    ///
    /// - Throws: The service's error, made of an `HttpError` with the ``SessionError`` underneath. The user is signed out all
    ///   the same.
    public func signOut<S: HttpService>(with service: S) async throws(S.RequestError) {
        do throws(SessionError) {
            try await signOut()
        } catch {
            throw service.mapError(HttpError(error))
        }
    }
}

extension HttpError {
    /// A failure of the session, for who calls a service.
    fileprivate init(_ error: SessionError) {
        let thrown: any Error = error.kind == .cancelled ? CancellationError() : error
        self.init(wrapping: thrown, stage: .decode, delivery: .maybeExecuted)
    }
}
