extension RefreshCoordinator {
    /// The session of a call that begins now. It changes with each sign-in, even of the same user, and with the end of
    /// a session.
    ///
    /// A call that begins while nobody is signed in belongs to no user, and does not go out as the user who signs in
    /// later; one that carries no credential goes on. A call that begins before anything has happened to the
    /// coordinator belongs to the session that the first ``adopt(_:since:)`` brings, since that session had been going
    /// on all along.
    public var session: CallSession { guarded.withLock { $0.machine.session } }

    /// A credential with its version, for authorizing an attempt.
    public struct VersionedCredential: Sendable {
        private let erased: ErasedVersionedCredential

        /// The credential.
        public var credential: Credential { erased.credential.restored(as: Credential.self) }
        /// The version: larger than that of every earlier credential of this coordinator, including other users'.
        public var generation: Int { erased.generation }
        /// The session that the credential belongs to.
        public var session: CallSession { erased.session }

        init(_ erased: ErasedVersionedCredential) {
            self.erased = erased
        }
    }
}

extension RefreshCoordinator.VersionedCredential: Redacted {
    /// The generation, never the credential.
    public var description: String { "generation \(generation)" }
}

/// Support for a session that several processes share: each has a coordinator of its own, and all use one store.
///
/// Changes by another process come in through ``adopt(_:since:)``, before a call asks for its credential. Changes by
/// this process go out in the refresh. The guide `SeveralProcesses` has the complete procedure.
/// ```swift
/// let epoch = coordinator.epoch  // before the look
/// let record = try store.load()
/// let isSameSession = record.session == known.session  // a number drawn at each sign-in
/// if !isSameSession || record.token != known.token {
///     coordinator.adopt(isSameSession ? .refreshed(record.token) : .signedIn(record.token), since: epoch)
/// }
/// ```
extension RefreshCoordinator {
    /// A point in the session's history; every sign-in, sign-out, fresh credential and expiry begins a new one.
    public struct Epoch: Hashable, Sendable {
        fileprivate let count: Int
    }

    /// The epoch now; see ``adopt(_:since:)``.
    public var epoch: Epoch { Epoch(count: guarded.withLock { $0.machine.epoch }) }

    /// Adopts a change by another process, unless something has happened here since `epoch`.
    ///
    /// Read ``epoch`` before you read the shared store: then what you adopt is never older than the state here. A
    /// refresh that is in flight is cancelled and its result dropped; calls that wait for it go on with the adopted
    /// credential, or fail when the session has changed.
    ///
    /// - Returns: Whether the change was adopted; if not, read the store again.
    @discardableResult
    public func adopt(_ change: SessionChange<Credential>, since epoch: Epoch) -> Bool {
        adopt(change, since: epoch, beginning: nil)
    }

    /// A session that has begun elsewhere, for calls that are bound before its credential has been read.
    package func newSession() -> CallSession { guarded.withLock { $0.machine.newSession() } }

    /// Adopts a change that begins the given session.
    package func adopt(
        _ change: SessionChange<Credential>,
        since epoch: Epoch,
        beginning session: CallSession?
    ) -> Bool {
        let received = change.map { ReceivedCredential(credential: CredentialBox($0), lifetime: lifetime($0)) }
        let now = stopwatch.elapsed
        let work = guarded.withLock { guarded in
            guarded.machine.epoch == epoch.count
                ? carryOut(.adopt(received, beginning: session), at: now, in: &guarded) : nil
        }
        guard let work else { return false }
        perform(work)
        return true
    }
}

/// A change of a session by another process.
public enum SessionChange<Credential: Sendable>: Sendable {
    /// The other process has refreshed: the session continues with this credential, or begins if nobody is signed in.
    case refreshed(Credential)
    /// A user, perhaps another one, has signed in there: calls of the previous session never go out with this
    /// credential.
    case signedIn(Credential)
    /// The user has signed out there.
    case signedOut
    /// A refresh there has failed for good with this error: calls fail with
    /// ``RefreshError/sessionExpired(underlying:)``, as they do there.
    case expired(any Error)

    fileprivate func map<Other: Sendable>(_ transform: (Credential) -> Other) -> SessionChange<Other> {
        switch self {
        case .refreshed(let credential): .refreshed(transform(credential))
        case .signedIn(let credential): .signedIn(transform(credential))
        case .signedOut: .signedOut
        case .expired(let error): .expired(error)
        }
    }
}

extension SessionChange: Redacted {
    /// The kind of change, never the credential.
    public var description: String {
        switch self {
        case .refreshed: "refreshed"
        case .signedIn: "signed in"
        case .signedOut: "signed out"
        case .expired: "expired"
        }
    }
}
