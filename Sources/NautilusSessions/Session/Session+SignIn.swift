import Nautilus

extension Session {
    /// Begins a session in place of the one before: in this process at once, in the others as soon as it is saved.
    ///
    /// The session before ends in all processes at once, as with ``signOut()``. Its calls fail, and never go out with
    /// the new credential. If this process ends before it has saved the new session, nobody is signed in.
    ///
    /// - Parameters:
    ///   - credential: The credential that a sign-in has brought.
    ///   - revokesReplaced: Whether the server is asked to forget the credential of the session before, in the
    ///     background and until it has been reached. Pass true for another user. Default: false: the same user may have
    ///     signed in for a wider scope, and some servers then revoke everything that the user has granted to the app.
    /// - Throws: ``SessionError`` if the credential could not be saved: the user is signed in all the same, and saving
    ///   is tried again. Of kind ``SessionError/Kind/superseded`` if another process has saved its sign-in first. The
    ///   guide `SeveralProcesses` says which of two sign-ins counts.
    public func signIn(
        _ credential: Credential,
        revokingReplaced revokesReplaced: Bool = false
    ) async throws(SessionError) {
        try await shared.signIn(credential, revokingReplaced: revokesReplaced)
    }

    /// Begins a session with the credential that a request brings, such as a login. The request is sent anonymously. No
    /// redirect to another origin receives the password or supplies the credential.
    /// ```swift
    /// try await session.signIn(by: Login(email: email, password: password), with: self)
    /// ```
    /// If somebody signs out, a later sign-in begins, or the task is cancelled while the request is on its way, the
    /// credential is not taken, and the server is asked in the background to forget it.
    /// - Parameters:
    ///   - request: The request whose result is the credential.
    ///   - service: The service of the session's own environment, not a switch between several.
    ///   - revokesReplaced: As in ``signIn(_:revokingReplaced:)``; also for a sign-in that a later one has overtaken.
    /// - Throws: The service's error. If a ``SessionError`` is underneath, it is ``SessionError/Kind/superseded``, or
    ///   the credential could not be saved, although the user is signed in. Otherwise nobody has signed in.
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

    /// Begins a session with the credential that some work brings, such as exchanging a code.
    ///
    /// ```swift
    /// try await session.signIn { try await endpoint.token(for: callback, of: request) }
    /// ```
    /// The order is decided by when this call begins: a sign-out meanwhile wins, and so does a sign-in that begins
    /// later. If you obtain the credential first, and hand it to ``signIn(_:revokingReplaced:)``, that order is not
    /// known.
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
