/// A source of credentials that calls share, and that refreshes once for all of them.
///
/// ``RefreshCoordinator`` is one. Write your own around a coordinator when something has to happen before each use,
/// such as a check whether another process has refreshed.
public protocol CredentialSource<Credential>: Sendable {
    /// The credential that authorizes calls.
    associatedtype Credential: Sendable

    /// The session of a call that begins now; see ``RefreshCoordinator/session``. Asked when the call begins, so it
    /// does not wait for anything.
    var session: CallSession { get }

    /// The newest credential of a session if it can be used now, for a request to `origin`; nil if not. Asked for each
    /// request that goes out, so it does not wait for anything.
    ///
    /// - Throws: ``RefreshError/foreignOrigin(_:own:)``, ``RefreshError/insecureOrigin(_:)``.
    func usable(in session: CallSession, for origin: HttpOrigin) throws -> RefreshCoordinator<Credential>
        .VersionedCredential?

    /// Whether what is known here is surely the newest, for a source that others change as well, such as other processes;
    /// if not, ``ready(in:)`` is asked before each use. Default: nil, for a source that nobody else changes.
    var isUpToDate: Bool? { get }

    /// Whether the session has a credential that can be used now; if not, a call waits before it passes the service's guards,
    /// and not behind them. Default: true: a call then finds out when it uses it.
    func serves(_ session: CallSession) -> Bool

    /// Waits until the session has a credential that can be used.
    ///
    /// - Throws: ``RefreshError`` when there is none to be had.
    func ready(in session: CallSession) async throws

    /// Has a rejected credential replaced, once for all calls, and returns the tag of the replacement.
    func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag
}

extension CredentialSource {
    /// Nil: nobody else changes it.
    public var isUpToDate: Bool? { nil }
    /// True.
    public func serves(_ session: CallSession) -> Bool { true }
}

extension RefreshCoordinator: CredentialSource {
    /// The present credential if it serves now; one that is about to expire is refreshed in the background.
    public func usable(in session: CallSession, for origin: HttpOrigin) throws -> VersionedCredential? {
        guard !CredentialWork.refreshes(self) else { throw RefreshError.recursive }
        try admit(origin)
        guard let credential = usable(in: session) else { return nil }
        try admit(origin, taking: true)
        return credential
    }

    /// Whether the session has a credential that has not expired, and is not being replaced since it was rejected.
    public func serves(_ session: CallSession) -> Bool {
        let now = stopwatch.elapsed
        return guarded.withLock { $0.machine.serves(session, at: now) }
    }

    private func usable(in session: CallSession) -> VersionedCredential? {
        let now = stopwatch.elapsed
        let question = RefreshMachine.Question(session: session)
        if let credential = guarded.withLock({ $0.machine.immediateAnswer(to: question, at: now) }) {
            return VersionedCredential(credential)
        }
        let (credential, work) = guarded.withLock { guarded -> (ErasedVersionedCredential?, Work) in
            guard guarded.machine.serves(session, at: now) else { return (nil, []) }
            let work = carryOut(.ask(question), at: now, in: &guarded)
            return (guarded.current, work)
        }
        perform(work)
        return credential.map { VersionedCredential($0) }
    }

    /// Waits for a refresh that the session's credential depends on; starts it if need be.
    public func ready(in session: CallSession) async throws {
        if let end = session.end { throw end }
        _ = try await ask(.init(session: session))
    }

    /// See `refresh(rejecting:)` with a versioned credential.
    public func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag {
        let credential = try await ask(.init(rejected: tag.generation, session: tag.session))
        return CredentialTag(session: credential.session, generation: credential.generation)
    }
}
