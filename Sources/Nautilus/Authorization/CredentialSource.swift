/// A source of credentials that calls share, and that refreshes once for all of them.
///
/// ``RefreshCoordinator`` is one. Write your own around a coordinator when something has to happen before each use,
/// such as a check whether another process has refreshed.
public protocol CredentialSource<Credential>: Sendable {
    /// The credential that authorizes calls.
    associatedtype Credential: Sendable

    /// The session of a call that begins now; see ``RefreshCoordinator/session``. Asked when the call begins, so it
    /// does not wait for anything.
    var session: RefreshCoordinator<Credential>.Session { get }

    /// Why a session is over; nil while it goes on. See ``RefreshCoordinator/end(of:)``. Asked before each request and
    /// each message, so it does not wait for anything. Default, once ``session`` is a different one:
    /// ``RefreshError/signedOut`` while nobody is signed in, and otherwise ``RefreshError/superseded``. A source around
    /// a coordinator had better ask that, which remembers the first end.
    func end(of session: RefreshCoordinator<Credential>.Session) -> RefreshError?

    /// Returns when a session is over, and when the task is cancelled; see ``RefreshCoordinator/waitForEnd(of:)``.
    func waitForEnd(of session: RefreshCoordinator<Credential>.Session) async

    /// Begins to check whether another process has ended the session, without waiting for the outcome. Called when
    /// messages are sent or received over an open connection, since they ask for no grant. Default: nothing.
    func lookForChanges()

    /// The credential to stamp on an attempt; see ``RefreshCoordinator/grant(continuing:for:)``.
    ///
    /// - Parameters:
    ///   - previous: The grant that the call was last stamped with; nil for its first request.
    ///   - origin: The origin that the attempt goes to.
    func grant(
        continuing previous: RefreshCoordinator<Credential>.Grant?,
        for origin: HttpOrigin
    ) async throws -> RefreshCoordinator<Credential>.Grant

    /// The credential that replaces one that the server has rejected; see ``RefreshCoordinator/refresh(rejecting:)``.
    func refresh(
        rejecting grant: RefreshCoordinator<Credential>.Grant
    ) async throws -> RefreshCoordinator<Credential>.Grant
}

extension CredentialSource {
    /// Returns ``RefreshError/signedOut`` or ``RefreshError/superseded`` once the session is over.
    public func end(of session: RefreshCoordinator<Credential>.Session) -> RefreshError? {
        let present = self.session
        if session == present { return nil }
        return present.mark.isOfUser == false ? .signedOut : .superseded
    }

    /// Does nothing: a source that shares its credential with no other process already knows of every change.
    public func lookForChanges() {}
}

extension RefreshCoordinator: CredentialSource {}

/// A session of a source, as seen by the calls that continue the one that began in it.
final class SourceSession<Source: CredentialSource>: SequenceSession {
    private let source: Source
    let session: RefreshCoordinator<Source.Credential>.Session

    init(_ source: Source, _ session: RefreshCoordinator<Source.Credential>.Session) {
        (self.source, self.session) = (source, session)
    }

    var isOfUser: Bool? { session.mark.isOfUser }
    var end: (any Error)? { source.end(of: session) }
    func look() { source.lookForChanges() }
    func waitForEnd() async { await source.waitForEnd(of: session) }
}

extension CallSequence {
    /// Runs part of the work that continues the first call, and cancels it as soon as the session in which that call
    /// began is over.
    ///
    /// - Throws: The error of `work`; ``endOfSession`` when the session is over.
    public func untilEndOfSession<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard hasSession else { return try await work() }
        let (value, isLate) = try await race(work)
        if let value, !isLate { return value }
        try Task.checkCancellation()
        throw endOfSession ?? HttpError(.cancelled, stage: .prepare, delivery: .notSent)
    }

    /// Like ``untilEndOfSession(_:)``, but also returns a value that cancelled work still produces, such as a slot that
    /// has to be given back.
    func untilEndOfSession<Value: Sendable>(
        keepingLate work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard hasSession else { return try await work() }
        if let value = try await race(work).value { return value }
        throw endOfSession ?? HttpError(.cancelled, stage: .prepare, delivery: .notSent)
    }

    /// Runs the work, and cancels it when the session ends.
    ///
    /// - Returns: The work's value, nil when it was cancelled before it had one; and whether the session ended first.
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
                // Meanwhile it may have become known that the sequence is of nobody's session.
                if endOfSession == nil, !Task.isCancelled, let value = try await group.next() ?? nil {
                    return (value, false)
                }
            } catch let error as HttpError {
                throw ending(error)
            }
            let isCancelled = Task.isCancelled
            group.cancelAll()
            // Even then the work may have a value by now, which must not be lost.
            let value = (try? await group.next()) ?? nil
            if value == nil, isCancelled { throw CancellationError() }
            return (value, true)
        }
    }

    /// The failure of a call of the sequence, replaced by the session's end if that is its cause: a call that has asked
    /// for a credential since then has only learned that nobody is signed in.
    package func ending(_ failure: HttpError) -> HttpError {
        guard case .signedOut? = failure.underlying as? RefreshError, let end = endOfSession else { return failure }
        var failure = failure
        failure.underlying = end.underlying
        return failure
    }
}
