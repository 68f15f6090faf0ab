/// The refresh coordinator's rules as a pure transition function, without clock, lock, closure or task.
///
/// Time comes in as a parameter; everything to be done goes out as ``Action``s. `RefreshCoordinator` is the shell that
/// feeds the machine under a lock and carries out the actions after releasing it.
struct RefreshMachine: Sendable {
    var state: RefreshState = .signedOut(expiredBy: nil)
    let limits: RefreshLimits
    var lastGeneration = 0
    /// Counts the changes of the session: sign-ins, sign-outs, new credentials, expiry.
    var epoch = 0
    /// The session as calls record it when they begin.
    var mark = SessionMark()
    /// The session that a failed refresh ended for good; nil when there is none, or when a user has signed in or out
    /// since.
    var expiredMark: SessionMark?
    private var lastFlight = 0
    private var starts: [Duration] = []  // within the window; kept across sessions, since it protects the server
    private var running: [RefreshFlight] = []  // every refresh that has not ended, even one that nobody waits for

    init(limits: RefreshLimits) {
        self.limits = limits
    }

    /// Takes one input and returns what has to be done about it, in order.
    mutating func handle(_ input: Input, at now: Duration) -> [Action] {
        switch input {
        case .ask(let question):
            answer(question, at: now)
        case .signIn(let credential, let lifetime):
            signInHere(credential, lifetime: lifetime, at: now)
        case .signOut:
            signOutHere()
        case .replace(let generation, let credential, let lifetime):
            replace(generation, with: credential, lifetime: lifetime, at: now)
        case .adopt(let adoption, let epoch):
            epoch == self.epoch ? adopt(adoption, at: now) : []
        case .refreshSucceeded(let flight, let credential, let lifetime):
            succeed(flight, with: credential, lifetime: lifetime, at: now)
        case .refreshFailed(let flight, .transient(let error, let coolDown, let passes)):
            fail(flight, with: error, coolDown: coolDown, passes: passes, at: now)
        case .refreshFailed(let flight, .terminal(let error)):
            expire(flight, with: error)
        case .timeLimitReached(let flight, let coolDown):
            overrun(flight, coolDown: coolDown, at: now)
        case .coolDownEnded:
            endCoolDown(at: now)
        }
    }

    /// When the refresh that follows a failed one may start; nil when none has failed, or when time alone is not
    /// enough.
    var nextStart: Duration? {
        guard case .coolingDown(let session, let coolDown) = state else { return nil }
        return nextStart(of: session, notBefore: max(coolDown.end, coolDown.overdue?.freedAt ?? coolDown.end))
    }

    /// When the next refresh of `session` may start; nil while two refreshes of its credential are running. If a
    /// refresh outlasts both its cancellation and its grace, a second may start beside it and may get through. If both
    /// hang, a third would hang as well.
    func nextStart(of session: RefreshSession, notBefore earliest: Duration) -> Duration? {
        guard running.count(where: { $0.generation == session.grant.generation }) < 2 else { return nil }
        return max(earliest, windowOpening)
    }

    /// Notes that a refresh has ended, in whichever way.
    mutating func noteEnd(of flight: RefreshFlight) {
        running.removeAll { $0.id == flight.id }
    }

    /// The answer to a question that needs no transition; nil when ``handle(_:at:)`` has to answer it.
    func immediateAnswer(to question: Question, at now: Duration) -> ErasedGrant? {
        guard let session = state.session, session.serves(at: now), !question.isOlder(than: session) else { return nil }
        guard question.rejected != session.grant.generation else { return nil }
        if case .refreshing = state { return session.grant }
        return session.isDue(at: now) ? nil : session.grant
    }
}

extension RefreshMachine {
    private mutating func answer(_ question: Question, at now: Duration) -> [Action] {
        guard var session = state.session else { return [.answer(.failure(signedOutError))] }
        // A call that was stamped as one user must not go out as another.
        if question.isOlder(than: session) { return [.answer(.failure(.superseded))] }
        // Only the generation that the call was stamped with tells whether the rejected credential is the present one.
        if question.rejected == session.grant.generation { session.isRejected = true }
        state = state.with(session)

        if session.serves(at: now) {
            // A call with a valid credential is not affected when a background refresh may not start.
            let background = session.isDue(at: now) ? (try? begin(session, at: now)) ?? [] : []
            return background + [.answer(.success(session.grant))]
        }
        if case .refreshing = state { return [.wait] }
        do throws(RefreshError) {
            return try begin(session, at: now) + [.wait]
        } catch {
            if case .coolingDown(_, let coolDown) = state, coolDown.isTransient, let start = nextStart {
                return [.waitOut(error, until: start)]
            }
            return [.answer(.failure(error))]
        }
    }

    /// Starts a refresh unless one is in flight; throws when none may start.
    mutating func begin(_ session: RefreshSession, at now: Duration) throws(RefreshError) -> [Action] {
        var (failures, previousCoolDown) = (0, Duration.zero)
        switch state {
        case .refreshing, .signedOut:
            return []
        case .idle:
            let remaining = windowOpening - now
            guard remaining <= .zero else {
                throw .tooManyRefreshes(limit: limits.maxStarts, window: limits.window, remaining: remaining)
            }
        case .coolingDown(_, let coolDown):
            guard let nextStart else { throw .timedOut(limit: limits.timeLimit, remaining: nil) }
            guard nextStart <= now else {
                throw coolDown.cause.asRecursion ?? .coolingDown(remaining: nextStart - now, underlying: coolDown.cause)
            }
            (failures, previousCoolDown) = (coolDown.failures, coolDown.length)
        }
        starts = starts.filter { now - $0 < limits.window } + [now]
        lastFlight += 1
        let flight = RefreshFlight(
            id: lastFlight,
            generation: session.grant.generation,
            failures: failures,
            previousCoolDown: previousCoolDown
        )
        running.append(flight)
        state = .refreshing(session, flight)
        return [
            .startRefresh(flight, session.grant.credential),
            .announce(.call(.refreshStarted(generation: flight.generation))),
        ]
    }

    /// The time from which the window has room for another start.
    private var windowOpening: Duration {
        starts.count < limits.maxStarts ? .zero : starts[starts.count - limits.maxStarts] + limits.window
    }

    /// Why a session is over; nil while it goes on.
    func end(of session: SessionMark) -> RefreshError? {
        guard session != mark else { return nil }
        guard session == expiredMark, case .signedOut(let cause?) = state else { return .superseded }
        return .sessionExpired(underlying: cause)
    }

    private var signedOutError: RefreshError {
        guard case .signedOut(let cause?) = state else { return .signedOut }
        return .sessionExpired(underlying: cause)
    }
}

extension RefreshState {
    /// The same state with the session changed.
    fileprivate func with(_ session: RefreshSession) -> RefreshState {
        switch self {
        case .signedOut: self
        case .idle: .idle(session)
        case .refreshing(_, let flight): .refreshing(session, flight)
        case .coolingDown(_, let coolDown): .coolingDown(session, coolDown)
        }
    }
}

extension RefreshMachine {
    /// An input of the machine.
    enum Input: Sendable {
        /// A call asks for a credential.
        case ask(Question)
        /// The app signs in; the lifetime counts from now.
        case signIn(any ErasedCredential, lifetime: Duration?)
        /// The app signs out.
        case signOut
        /// A credential of this generation has been refreshed elsewhere.
        case replace(generation: Int, any ErasedCredential, lifetime: Duration?)
        /// The store that processes share has changed; ignored if anything has happened here since `epoch`.
        case adopt(Adoption, since: Int)
        /// A refresh has ended with a credential.
        case refreshSucceeded(RefreshFlight, any ErasedCredential, lifetime: Duration?)
        /// A refresh has ended with an error.
        case refreshFailed(RefreshFlight, Failure)
        /// A refresh has reached its time limit; `coolDown` follows if it is still in flight.
        case timeLimitReached(RefreshFlight, coolDown: Duration)
        /// A cool-down has ended, and calls have waited for it.
        case coolDownEnded
    }

    /// A change of the session by another process.
    enum Adoption: Sendable {
        /// The other process has refreshed.
        case replacement(any ErasedCredential, lifetime: Duration?)
        /// Somebody has signed in.
        case session(any ErasedCredential, lifetime: Duration?)
        /// The user has signed out.
        case nothing
        /// A refresh has failed for good.
        case expiry(any Error)
    }

    /// How a refresh failed.
    enum Failure: Sendable {
        /// It failed for now: the next refresh may start after the cool-down. `passes` tells whether it may succeed
        /// without any change.
        case transient(any Error, coolDown: Duration, passes: Bool = true)
        /// It failed for good.
        case terminal(any Error)
    }

    /// A call's question.
    struct Question: Sendable {
        /// The generation that the server has rejected; nil when the call has not been sent.
        var rejected: Int?
        /// The generation that the call was last stamped with; nil when it never was.
        var stamp: Int?

        /// Whether the call was stamped in a session before `session`.
        func isOlder(than session: RefreshSession) -> Bool {
            stamp.map { $0 < session.firstGeneration } ?? false
        }
    }

    /// An action to take after a transition, outside of the lock.
    enum Action: Sendable {
        /// Answer the call that asked.
        case answer(Result<ErasedGrant, RefreshError>)
        /// Let the call that asked wait with the others.
        case wait
        /// Let the call that asked wait for the next refresh, which starts at `until`; fail the call if it has no time.
        case waitOut(RefreshError, until: Duration)
        /// Resume all waiting calls and retries.
        case resumeWaiters(Result<ErasedGrant, RefreshError>)
        /// Let waiting calls wait for the next refresh, which starts at `until`; fail the calls that have no time, and
        /// all of them when `until` is nil.
        case failWaiters(RefreshError, until: Duration?)
        /// Run the refresh and its timer.
        case startRefresh(RefreshFlight, any ErasedCredential)
        /// Cancel a refresh; it still reports its end.
        case cancelRefresh(RefreshFlight)
        /// Notify the event subscribers or the observer.
        case announce(Announcement)
    }

    /// A notification of the event subscribers or the observer.
    enum Announcement: Sendable {
        /// For the subscribers of ``RefreshCoordinator/events``.
        case session(RefreshEvent)
        /// For the observer.
        case call(CallEvent)
    }
}
