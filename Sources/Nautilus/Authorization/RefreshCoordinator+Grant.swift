extension RefreshCoordinator {
    /// Tells one user's time between signing in and signing out from the next one's.
    ///
    /// A call belongs to the session in which it begins, and never goes out in another: ``CredentialLease`` sees to it.
    public struct Session: Hashable, Sendable {
        let mark: SessionMark
    }

    /// The session to which a call that begins now belongs: another one after each sign-in, also of the same user.
    ///
    /// A call that begins while nobody is signed in belongs to no user, and does not go out as the one who signs in
    /// later. A call that begins before the first ``adopt(_:since:)`` of a coordinator that nothing has happened to yet
    /// belongs to the session which that brings: it was going on all along.
    public var session: Session { Session(mark: core.withLock { $0.machine.mark }) }

    /// Returns when a session is over, because a user has signed in or out: for work that has to end with it, such as
    /// an open connection. At once when it is over already; also when the task is cancelled.
    public func waitForEnd(of session: Session) async {
        // Before the look, so that no end falls between the two.
        let events = events
        guard self.session == session else { return }
        for await _ in events where self.session != session { return }
    }

    /// A credential with its version, to stamp an attempt with.
    public struct Grant: Sendable {
        private let sealed: SealedGrant

        /// The credential.
        public var credential: Credential { sealed.credential.unsealed(as: Credential.self) }
        /// Its version: larger than that of every earlier credential of this coordinator, those of other users
        /// included.
        public var generation: Int { sealed.generation }
        /// The session that it belongs to.
        public var session: Session { Session(mark: sealed.session) }

        init(_ sealed: SealedGrant) {
            self.sealed = sealed
        }
    }
}

extension RefreshCoordinator.Grant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The generation, never the credential.
    public var description: String { "generation \(generation)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the generation, never the credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["generation": generation])
    }
}
