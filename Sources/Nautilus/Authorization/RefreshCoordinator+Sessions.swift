extension RefreshCoordinator {
    /// Tells one user's time between signing in and signing out from the next one's.
    ///
    /// A call belongs to the session in which it begins, and never goes out in another: ``CredentialLease`` sees to it.
    public struct Session: Hashable, Sendable {
        let mark: SessionMark
    }

    /// The session to which a call that begins now belongs: another one after each sign-in, also of the same user, and
    /// after the end of a session.
    ///
    /// A call that begins while nobody is signed in belongs to no user, and does not go out as the one who signs in
    /// later. A call that begins before the first ``adopt(_:since:)`` of a coordinator that nothing has happened to yet
    /// belongs to the session which that brings: it was going on all along.
    public var session: Session { Session(mark: core.withLock { $0.machine.mark }) }

    /// Why a session is over: ``RefreshError/superseded`` when a user has signed in or out, in whichever process, and
    /// ``RefreshError/sessionExpired(underlying:)`` when the server has ended it and nobody has signed in since. Nil
    /// while it goes on.
    public func end(of session: Session) -> RefreshError? { core.withLock { $0.machine.end(of: session.mark) } }

    /// Returns when a session is over, because a user has signed in or out, in whichever process, or because the server
    /// has ended it: for work that has to end with it, such as an open connection. At once when it is over already;
    /// also when the task is cancelled.
    public func waitForEnd(of session: Session) async {
        // A continuation and no stream: every call that waits for its next attempt waits here as well.
        while self.session == session, !Task.isCancelled {
            try? await endWaiters.wait { waiters, waiter in
                // Looked at under this lock, so that no end falls between the look and the wait.
                guard self.session == session else { return true }
                waiters.line.append(waiter)
                return false
            } joined: { isOver, waiter in
                if isOver { waiter.resume() }
            } leave: { waiters, id in
                waiters.line.remove(id)
            }
        }
    }

    /// Wakes those that wait for an end, if another session goes on than when they were woken last.
    func wakeEndWaiters() {
        let present = session.mark
        let woken = endWaiters.withLock { waiters in
            defer { waiters.session = present }
            return waiters.session == present ? [] : waiters.line.removeAll()
        }
        for waiter in woken { waiter.resume() }
    }

    /// The tasks that wait for the end of a session.
    struct EndWaiters: Sendable {
        var line = WaitingLine<Waiter<Void>>()
        /// The session that went on when they were woken last.
        var session: SessionMark?
    }

    /// A credential with its version, to stamp an attempt with.
    public struct Grant: Sendable {
        private let sealed: ErasedGrant

        /// The credential.
        public var credential: Credential { sealed.credential.restored(as: Credential.self) }
        /// Its version: larger than that of every earlier credential of this coordinator, those of other users
        /// included.
        public var generation: Int { sealed.generation }
        /// The session that it belongs to.
        public var session: Session { Session(mark: sealed.session) }

        init(_ sealed: ErasedGrant) {
            self.sealed = sealed
        }
    }
}

extension RefreshCoordinator.Grant: Redacted {
    /// The generation, never the credential.
    public var description: String { "generation \(generation)" }
    /// Shows the generation, never the credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["generation": generation])
    }
}

/// For a session that several processes share: each has a coordinator of its own, and all look at one store.
///
/// Changes by another process come in by ``adopt(_:since:)``, before a call asks for its grant. Changes by this process
/// go out in the refresh: it takes the store's lock, reads the store again, sends only a credential that is not
/// refreshed yet, and saves the new one before it returns.
///
/// ```swift
/// let epoch = coordinator.epoch  // before the look
/// let record = try store.load()
/// if record.session != known.session {
///     coordinator.adopt(.signedIn(record.token), since: epoch)
/// } else if record.token != known.token {
///     coordinator.adopt(.refreshed(record.token), since: epoch)
/// }
/// ```
/// The record has to tell a refresh from a sign-in, as here by a number that is drawn at each sign-in. The guide
/// SeveralProcesses has the whole of it.
extension RefreshCoordinator {
    /// A change of the session by another process.
    public enum Adoption: Sendable {
        /// It has refreshed: the session goes on with this credential. Where nobody is signed in, it begins with it.
        case refreshed(Credential)
        /// A user has signed in there, perhaps another one: calls of the session before never go out with this
        /// credential.
        case signedIn(Credential)
        /// The user has signed out there.
        case signedOut
        /// A refresh there has failed for good, as the error says: calls fail with
        /// ``RefreshError/sessionExpired(underlying:)`` as they do there.
        case expired(any Error)
    }

    /// The state of the session so far: every sign-in, sign-out, fresh credential and expiry makes it another one.
    public struct Epoch: Hashable, Sendable {
        fileprivate let count: Int
    }

    /// The epoch now; see ``adopt(_:since:)``.
    public var epoch: Epoch { Epoch(count: core.withLock { $0.machine.epoch }) }

    /// Follows another process, unless something has happened here since `epoch`.
    ///
    /// Read ``epoch`` before you look at what is shared: then what you adopt is never older than what is here. A
    /// refresh that is in flight is cancelled and its result dropped; calls that wait for it go on with what is
    /// adopted, or fail when the session is another one.
    ///
    /// - Returns: Whether it has been followed; when not, look again.
    @discardableResult
    public func adopt(_ adoption: Adoption, since epoch: Epoch) -> Bool {
        let adoption: RefreshMachine.Adoption =
            switch adoption {
            case .refreshed(let credential): .replacement(CredentialBox(credential), lifetime: lifetime(credential))
            case .signedIn(let credential): .session(CredentialBox(credential), lifetime: lifetime(credential))
            case .signedOut: .nothing
            case .expired(let error): .expiry(error)
            }
        let now = stopwatch.elapsed
        let effects: [RefreshCore.Effect]? = core.withLock { core in
            core.machine.epoch == epoch.count ? core.handle(.adopt(adoption, since: epoch.count), at: now) : nil
        }
        guard let effects else { return false }
        perform(effects)
        return true
    }
}

extension RefreshCoordinator.Adoption: Redacted {
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
