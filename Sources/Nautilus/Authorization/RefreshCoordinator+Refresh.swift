extension RefreshCoordinator {
    /// Runs the refresh in a task of its own, with its timer beside it: no waiter's cancellation reaches it.
    func start(_ flight: RefreshFlight, from credential: Credential, tasks: RefreshTasks) {
        let timer = BackgroundTask.start { [weak self, clock, limit = limits.timeLimit] in
            // The refresh has ended in time.
            guard (try? await clock.sleep(untilLimitOf: limit)) != nil else { return }
            guard let self else { return }
            self.handle(.timeLimitReached(flight, coolDown: self.coolDown(after: flight)))
        }
        // Part of no call's attempt: it is made once for all, and its failure is no reason to attempt any of them again.
        let refresh = BackgroundTask.start {
            let input = await self.run(flight, from: credential)
            let now = self.stopwatch.elapsed
            self.perform(self.core.withLock { $0.handle(input, endOf: flight, at: now) })
        }
        tasks.handIn(refresh: refresh, timer: timer)
    }

    private func run(_ flight: RefreshFlight, from credential: Credential) async -> RefreshMachine.Input {
        await HttpError.keeping { await input(of: flight, from: credential) }
    }

    private func input(of flight: RefreshFlight, from credential: Credential) async -> RefreshMachine.Input {
        do {
            let fresh = try await RefreshScope.run(self) { try await obtain(credential) }
            return .refreshSucceeded(flight, CredentialBox(fresh), lifetime: lifetime(fresh))
        } catch let failure as TerminalRefreshFailure {
            return .refreshFailed(flight, .terminal(failure))
        } catch {
            // A service's own error tells less than the call's.
            let error = HttpError.behind(error) ?? error
            let failure = error as? any RefreshFailure
            let coolDown = coolDown(after: flight, askedToWait: failure?.retryAfter)
            let passes = failure?.isTransient ?? true
            return .refreshFailed(flight, .transient(error, coolDown: coolDown, passes: passes))
        }
    }

    /// The cool-down if this refresh fails; drawn here, since the machine draws nothing.
    ///
    /// - Parameter hint: How long the token endpoint asks to wait; nil when it does not.
    private func coolDown(after flight: RefreshFlight, askedToWait hint: Duration? = nil) -> Duration {
        let drawn = limits.coolDown.delay(
            beforeRetry: flight.failures + 1,
            previous: flight.previousCoolDown,
            random: random
        )
        return max(drawn, min(hint ?? .zero, limits.retryAfterCap))
    }

    /// Starts the refresh that calls wait for, when its time has come.
    func set(_ alarm: RefreshAlarm) {
        let timer = BackgroundTask.start { [weak self, clock, stopwatch] in
            guard (try? await clock.sleep(for: alarm.time - stopwatch.elapsed)) != nil, let self else { return }
            let now = self.stopwatch.elapsed
            self.perform(self.core.withLock { $0.ring(alarm, at: now) })
        }
        alarm.handIn(timer)
    }
}

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
        // Before the look, so that no end falls between the two.
        let events = events
        guard self.session == session else { return }
        for await _ in events where self.session != session { return }
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

extension RefreshCoordinator {
    func ask(_ question: RefreshMachine.Question) async throws -> ErasedGrant {
        guard !RefreshScope.contains(self) else { throw RefreshScope.refusal(by: self) }
        let now = stopwatch.elapsed
        if let grant = core.withLock({ $0.machine.immediateAnswer(to: question, at: now) }) { return grant }
        let remaining = CallDeadline.remaining
        return try await core.wait { core, waiter in
            core.ask(question, for: waiter, remaining: remaining, at: now)
        } joined: { effects, _ in
            perform(effects)
        } leave: { core, id in
            guard case .call(let waiter, _) = core.waiters.remove(id) else { return nil }
            return waiter
        }
    }

    /// Returns once no refresh holds back retries.
    ///
    /// - Returns: Whether one did.
    func waitOutRefresh() async throws -> Bool {
        let now = stopwatch.elapsed
        return try await wait { $0.holdsRetries(at: now) }
    }

    /// Returns once no refresh is in flight, not even one that no call waits for.
    ///
    /// A command-line tool does this before it ends, so that what the server has issued is not lost with the process.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    public func waitForRefresh() async throws {
        _ = try await wait { $0.isRefreshing }
    }

    /// - Returns: Whether there was something to wait for.
    private func wait(while holds: @Sendable (RefreshState) -> Bool) async throws -> Bool {
        guard core.withLock({ holds($0.machine.state) }) else { return false }
        try await core.wait { core, waiter in
            core.wait(waiter, while: holds)
        } joined: { effects, _ in
            perform(effects)
        } leave: { core, id in
            guard case .retry(let waiter) = core.waiters.remove(id) else { return nil }
            return waiter
        }
        return true
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
