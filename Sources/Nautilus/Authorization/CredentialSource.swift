/// A source of credentials that calls share, and that refreshes once for all of them.
///
/// ``RefreshCoordinator`` is one. Write another one around a coordinator when something has to be done before each use,
/// as a session does that looks whether another process has refreshed.
public protocol CredentialSource<Credential>: Sendable {
    /// The credential that authorizes calls.
    associatedtype Credential: Sendable

    /// The session that a call which begins now belongs to; see ``RefreshCoordinator/session``. Asked when the call
    /// begins, so it does not wait for anything.
    var session: RefreshCoordinator<Credential>.Session { get }

    /// Why a session is over; nil while it goes on. See ``RefreshCoordinator/end(of:)``. Asked before each request and
    /// each message, so it does not wait for anything. Default: ``RefreshError/superseded`` once ``session`` is another
    /// one.
    func end(of session: RefreshCoordinator<Credential>.Session) -> RefreshError?

    /// Returns when a session is over, and when the task is cancelled; see ``RefreshCoordinator/waitForEnd(of:)``.
    func waitForEnd(of session: RefreshCoordinator<Credential>.Session) async

    /// Begins to look whether another process has ended the session, without waiting for what it finds. Called when
    /// something goes or comes over an open connection, since that asks for no grant. Default: nothing.
    func lookForChanges()

    /// The credential to stamp on an attempt; see ``RefreshCoordinator/grant(continuing:for:)``.
    ///
    /// - Parameters:
    ///   - previous: The grant that the call was last stamped with; nil for its first request.
    ///   - origin: Where it is sent.
    func grant(
        continuing previous: RefreshCoordinator<Credential>.Grant?,
        for origin: HttpOrigin
    ) async throws -> RefreshCoordinator<Credential>.Grant

    /// The credential that takes the place of one that the server has rejected; see
    /// ``RefreshCoordinator/refresh(rejecting:)``.
    func refresh(
        rejecting grant: RefreshCoordinator<Credential>.Grant
    ) async throws -> RefreshCoordinator<Credential>.Grant
}

extension CredentialSource {
    /// ``RefreshError/superseded`` as soon as another session goes on.
    public func end(of session: RefreshCoordinator<Credential>.Session) -> RefreshError? {
        session == self.session ? nil : .superseded
    }

    /// Nothing: a source that shares its credential with nobody knows of all that happens.
    public func lookForChanges() {}
}

extension RefreshCoordinator: CredentialSource {}

extension CredentialSource {
    /// A session of this source, as what continues the call that began in it sees it.
    func owner(
        of session: RefreshCoordinator<Credential>.Session
    ) -> CallSequence.Owner<RefreshCoordinator<Credential>.Session> {
        .init(
            session: session,
            end: { [self] in end(of: session) },
            look: { [self] in lookForChanges() },
            waitForEnd: { [self] in await waitForEnd(of: session) }
        )
    }
}

extension CallSequence {
    /// Does a part of the work that continues the first call, and cancels it as soon as the session is over that the call
    /// began in.
    ///
    /// - Throws: The error of `work`; ``endOfSession`` when the session is over.
    public func untilEndOfSession<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard hasSession else { return try await work() }
        let (value, isLate) = try await race(work)
        if let value, !isLate { return value }
        throw endOfSession ?? HttpError(.cancelled, stage: .prepare, delivery: .notSent)
    }

    /// The same, but what the work has brought all the same, as it was cancelled, is returned: a slot has to be given back.
    func untilEndOfSession<Value: Sendable>(
        keepingLate work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard hasSession else { return try await work() }
        if let value = try await race(work).value { return value }
        throw endOfSession ?? HttpError(.cancelled, stage: .prepare, delivery: .notSent)
    }

    /// Does the work until the session is over at most.
    ///
    /// - Returns: Its value, nil when it was cancelled before it had one; whether the session had ended before.
    private func race<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value?, isLate: Bool) {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                await self.waitForEndOfSession()
                return nil
            }
            defer { group.cancelAll() }
            do {
                if let value = try await group.next() ?? nil { return (value, false) }
            } catch let error as HttpError {
                throw ending(error)
            }
            try Task.checkCancellation()
            group.cancelAll()
            return ((try? await group.next()) ?? nil, true)
        }
    }

    /// The failure of a call of the sequence, in the words of the session's end where that is its reason: a call that has
    /// asked for a credential since has only heard that nobody is signed in.
    package func ending(_ failure: HttpError) -> HttpError {
        guard case .signedOut? = failure.underlying as? RefreshError, let end = endOfSession else { return failure }
        var failure = failure
        failure.underlying = end.underlying
        return failure
    }
}
