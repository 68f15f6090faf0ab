import Nautilus

extension Session {
    /// Begins a session in place of the one before: in this process at once, in the others as soon as it is saved.
    ///
    /// The session before ends in all processes at once, as with ``signOut()``, since that needs no lock. Should this
    /// process end before it has saved the new session, nobody is signed in, not even the user before.
    ///
    /// Calls of the session before fail, and never go out with the new credential; the result of a refresh of it under
    /// way is discarded.
    ///
    /// - Parameters:
    ///   - credential: The credential that a sign-in has brought.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before, in the
    ///     background and until it has been reached. Default: false, since the same user may be signing in for a wider
    ///     scope, and some servers revoke everything a user has ever granted an app when one of its credentials is
    ///     revoked. Pass true for another user, or call ``signOut()`` first.
    /// - Throws: ``SessionError`` when the credential could not be saved. The user is signed in to this process all the
    ///   same, and saving is tried again, so the sign-in need not be repeated. If the store could not be read either,
    ///   the sign-in replaces whoever is stored once it can be, even somebody who has signed in elsewhere meanwhile: no
    ///   clock tells who came later. When two processes sign in at once, the sign-in that is
    ///   saved first counts, and the other throws ``SessionError/Kind/superseded``; one that has found the other stored
    ///   when it looked replaces it.
    public func signIn(
        _ credential: Credential,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(SessionError) {
        try await shared.signIn(credential, revokingReplaced: revokesReplaced)
    }

    /// Begins a session with the credential that a request brings, such as a login. The request is sent anonymously, and
    /// its result is taken as by ``signIn(_:revokingReplaced:)``. Redirects to another origin neither receive the
    /// password nor supply a credential.
    ///
    /// ```swift
    /// try await session.signIn(by: Login(email: email, password: password), with: self)
    /// ```
    /// The credential is not taken if a sign-out comes or a later sign-in begins while the request is on its way, or if the
    /// task is cancelled. The server is then asked in the background to forget it.
    ///
    /// - Parameters:
    ///   - request: The request whose result is the credential.
    ///   - service: The service of the session's own environment, not a switch between several.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before, and that of a
    ///     sign-in which a later one has overtaken. Default: false.
    /// - Throws: The service's error. If it comes from the request, nobody has signed in. Otherwise it is made of an
    ///   `HttpError` with the ``SessionError`` underneath: of kind ``SessionError/Kind/superseded`` when somebody has signed
    ///   out or in meanwhile, else of another kind because the credential could not be saved, although the user is signed in.
    public func signIn<R: Request, S: HttpService>(
        by request: R,
        with service: S,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(S.RequestError) where R.Result == Credential {
        let number = shared.beginSignIn()
        let answer = await CredentialWork.run { () async -> Result<Credential, S.RequestError> in
            do throws(S.RequestError) {
                return .success(try await request.schedule(with: service.anonymous))
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

    /// Begins a session with the credential that some work brings, such as exchanging a code, or signing in by the
    /// system.
    ///
    /// ```swift
    /// try await session.signIn { try await endpoint.token(for: callback, of: request) }
    /// ```
    /// The order is decided by when this call begins: a sign-out meanwhile wins, and so does a sign-in that begins
    /// later. That order is not known if the credential is obtained first and then handed to
    /// ``signIn(_:revokingReplaced:)``.
    ///
    /// - Parameters:
    ///   - revokesReplaced: As in ``signIn(by:with:revokingReplaced:)``. Default: false.
    ///   - isolation: The caller's actor. Leave the default.
    ///   - work: Brings the credential. Its own calls may go through a service of the session, anonymously.
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

    /// Signs out as ``signOut()`` does, and throws the error of a service.
    ///
    /// - Throws: The service's error, made of an `HttpError` with the ``SessionError`` underneath. The user is signed
    ///   out all the same.
    public func signOut<S: HttpService>(with service: S) async throws(S.RequestError) {
        do throws(SessionError) {
            try await signOut()
        } catch {
            throw service.mapError(HttpError(error))
        }
    }
}

extension HttpError {
    /// A failure of the session, for callers of a service.
    fileprivate init(_ error: SessionError) {
        let thrown: any Error = error.kind == .cancelled ? CancellationError() : error
        self.init(wrapping: thrown, stage: .decode, delivery: .maybeExecuted)
    }
}
