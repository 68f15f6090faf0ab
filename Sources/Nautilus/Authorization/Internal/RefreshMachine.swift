/// The refresh coordinator's rules as a pure transition function, without clock, lock, closure or task.
///
/// Time comes in as a parameter; everything to be done goes out as ``Action``s, which `RefreshCoordinator` carries out:
/// what its lock guards at once, everything else after releasing it.
struct RefreshMachine: Sendable {
    var state: RefreshState = .signedOut(expiredBy: nil)
    let limits: RefreshLimits
    var lastGeneration = 0
    /// Counts the changes of the session: sign-ins, sign-outs, new credentials, expiry.
    var epoch = 0
    /// The session of a call that begins now; also of the time in which nobody is signed in. Before anything has
    /// happened, it is not known whether somebody is.
    var session: CallSession
    /// The session that the change that is adopted now begins; nil for one of the machine's own making.
    var upcoming: CallSession?
    private var lastFlight = 0
    private var starts: [Duration] = []  // within the window; kept across sessions, since it protects the server
    private var running: [RefreshFlight] = []  // every refresh that has not ended, even one that no call waits for

    /// Begins to look for what other processes have done; see ``CallSession/look()``.
    private let onLook: @Sendable () -> Void

    init(limits: RefreshLimits, onLook: @escaping @Sendable () -> Void = {}) {
        (self.limits, self.onLook) = (limits, onLook)
        session = CallSession(onLook: onLook)
    }

    /// Takes one input and returns what has to be done about it, in order.
    mutating func handle(_ input: Input, at now: Duration) -> [Action] {
        switch input {
        case .ask(let question):
            answer(question, at: now)
        case .signIn(let credential, let lifetime):
            signIn(credential, lifetime: lifetime, at: now)
        case .signOut:
            // Also where nobody was known to be signed in: calls may belong to the time before.
            signOut()
        case .replace(let generation, let credential, let lifetime):
            replace(generation, with: credential, lifetime: lifetime, at: now)
        case .adopt(let change, let session):
            adopt(change, beginning: session, at: now)
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
        guard case .coolingDown(let held, let coolDown) = state else { return nil }
        return nextStart(of: held, notBefore: max(coolDown.end, coolDown.overdue?.freedAt ?? coolDown.end))
    }

    /// When the next refresh of `held` may start; nil while two refreshes of it are running. If a refresh outlasts both
    /// its cancellation and its grace, a second may start beside it and may get through. If both hang, a third would hang
    /// as well.
    func nextStart(of held: HeldCredential, notBefore earliest: Duration) -> Duration? {
        guard running.count(where: { $0.generation == held.versioned.generation }) < 2 else { return nil }
        return max(earliest, windowOpening)
    }

    /// Notes that a refresh has ended, in whichever way.
    mutating func noteEnd(of flight: RefreshFlight) {
        running.removeAll { $0.id == flight.id }
    }

    /// The answer to a question that needs no transition; nil when ``handle(_:at:)`` has to answer it.
    func immediateAnswer(to question: Question, at now: Duration) -> ErasedVersionedCredential? {
        guard let held = state.held, held.serves(at: now), isOfPresentSession(question) else { return nil }
        guard question.rejected != held.versioned.generation else { return nil }
        if case .refreshing = state { return held.versioned }
        return held.isDue(at: now) ? nil : held.versioned
    }
}

extension RefreshMachine {
    private mutating func answer(_ question: Question, at now: Duration) -> [Action] {
        // A call of one user must not go out as another, and learns how its own session ended.
        guard isOfPresentSession(question) else { return [.answer(.failure(question.session?.end ?? .superseded))] }
        guard var held = state.held else { return [.answer(.failure(signedOutError))] }
        // Only the generation that authorized the call tells whether the rejected credential is the present one.
        if question.rejected == held.versioned.generation { held.isRejected = true }
        state = state.with(held)

        if held.serves(at: now) {
            // A call with a valid credential is not affected when a background refresh may not start.
            let background = held.isDue(at: now) ? (try? begin(held, at: now)) ?? [] : []
            return background + [.answer(.success(held.versioned))]
        }
        if case .refreshing = state { return [.wait] }
        do throws(RefreshError) {
            return try begin(held, at: now) + [.wait]
        } catch {
            if case .coolingDown(_, let coolDown) = state, coolDown.isTransient, let start = nextStart {
                return [.waitOut(error, until: start)]
            }
            return [.answer(.failure(error))]
        }
    }

    /// Starts a refresh unless one is in flight; throws when none may start.
    mutating func begin(_ held: HeldCredential, at now: Duration) throws(RefreshError) -> [Action] {
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
            generation: held.versioned.generation,
            failures: failures,
            previousCoolDown: previousCoolDown
        )
        running.append(flight)
        state = .refreshing(held, flight)
        return [
            .startRefresh(flight, held.versioned.credential),
            .announce(.call(.refreshStarted(generation: flight.generation))),
        ]
    }

    /// The time from which the window has room for another start.
    private var windowOpening: Duration {
        starts.count < limits.maxStarts ? .zero : starts[starts.count - limits.maxStarts] + limits.window
    }

    /// Whether calls of a session may be sent with its credential now.
    func serves(_ session: CallSession, at now: Duration) -> Bool {
        session === self.session && state.held?.serves(at: now) == true
    }

    private func isOfPresentSession(_ question: Question) -> Bool {
        question.session.map { $0 === session } ?? true
    }

    /// A session that has yet to begin.
    func newSession() -> CallSession { CallSession(onLook: onLook) }

    private var signedOutError: RefreshError {
        guard case .signedOut(let cause?) = state else { return .signedOut }
        return .sessionExpired(underlying: cause)
    }
}

extension RefreshState {
    /// The same state with what is held changed.
    fileprivate func with(_ held: HeldCredential) -> RefreshState {
        switch self {
        case .signedOut: self
        case .idle: .idle(held)
        case .refreshing(_, let flight): .refreshing(held, flight)
        case .coolingDown(_, let coolDown): .coolingDown(held, coolDown)
        }
    }
}

// MARK: - A refresh that succeeds

extension RefreshMachine {
    private mutating func succeed(
        _ flight: RefreshFlight,
        with credential: any ErasedCredential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        noteEnd(of: flight)
        // The generation decides, not the slot: a late success has spent the old token, so dropping it would end the
        // session.
        guard let held = state.held, held.versioned.generation == flight.generation else {
            return [.announce(.call(.refreshEnded(generation: nil)))]
        }
        return publish(credential, lifetime: lifetime, in: held, endOf: flight, at: now)
            + [.announce(.call(.refreshEnded(generation: lastGeneration)))]
    }

    /// Replaces the credential that is held by `credential`, and hands that to all waiting calls.
    mutating func publish(
        _ credential: any ErasedCredential,
        lifetime: Duration?,
        in held: HeldCredential,
        endOf ended: RefreshFlight? = nil,
        at now: Duration
    ) -> [Action] {
        epoch += 1
        let versioned = nextVersion(credential)
        // The clocks disagree, and another refresh would bring the same: the server's 401 will tell when it has
        // expired.
        let isBornExpired = ended != nil && lifetime.map { $0 <= .zero } ?? false
        let released = release(resumingWith: .success(versioned), endOf: ended)
        state = .idle(held.next(versioned, expiry: isBornExpired ? nil : expiry(of: lifetime, at: now)))
        return released + [.announce(.session(.refreshed(generation: versioned.generation)))]
    }

    /// Ends the refresh that calls wait for, be it in flight or still to start: the calls resume, and a refresh in
    /// flight is cancelled unless it has `ended`. To be called before the state changes.
    func release(
        resumingWith result: Result<ErasedVersionedCredential, RefreshError>,
        endOf ended: RefreshFlight? = nil
    ) -> [Action] {
        switch state {
        case .signedOut, .idle: []
        case .refreshing(_, ended): [.resumeWaiters(result)]
        case .refreshing(_, let flight): [.cancelRefresh(flight), .resumeWaiters(result)]
        case .coolingDown: [.resumeWaiters(result)]
        }
    }

    mutating func nextVersion(_ credential: any ErasedCredential) -> ErasedVersionedCredential {
        lastGeneration += 1
        return ErasedVersionedCredential(credential: credential, generation: lastGeneration, session: session)
    }

    func expiry(of lifetime: Duration?, at now: Duration) -> CredentialExpiry? {
        lifetime.map { CredentialExpiry(receivedAt: now, lifetime: $0, limits: limits) }
    }
}

// MARK: - The machine's inputs and actions

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
        /// Another process has changed the session; `beginning` is the one that begins, where calls have it already.
        case adopt(SessionChange<ReceivedCredential>, beginning: CallSession? = nil)
        /// A refresh has ended with a credential.
        case refreshSucceeded(RefreshFlight, any ErasedCredential, lifetime: Duration?)
        /// A refresh has ended with an error.
        case refreshFailed(RefreshFlight, Failure)
        /// A refresh has reached its time limit; `coolDown` follows if it is still in flight.
        case timeLimitReached(RefreshFlight, coolDown: Duration)
        /// A cool-down has ended, and calls have waited for it.
        case coolDownEnded
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
        var rejected: Int? = nil
        /// The session of the call, to which a credential that it last carried belongs; nil when it has none.
        var session: CallSession?
    }

    /// An action to take after a transition. `RefreshCoordinator.carryOut` does under the lock what the lock guards, such as
    /// adding and removing waiters and ending a session, and leaves the rest for after it, such as waking the waiters.
    enum Action: Sendable {
        /// Answer the call that asked.
        case answer(Result<ErasedVersionedCredential, RefreshError>)
        /// Let the call that asked wait with the others.
        case wait
        /// Let the call that asked wait for the next refresh, which starts at `until`; fail the call if it has no time.
        case waitOut(RefreshError, until: Duration)
        /// Resume all waiting calls and retries.
        case resumeWaiters(Result<ErasedVersionedCredential, RefreshError>)
        /// Let waiting calls wait for the next refresh, which starts at `until`; fail the calls that have no time, and
        /// all of them when `until` is nil.
        case failWaiters(RefreshError, until: Duration?)
        /// Run the refresh and its timer.
        case startRefresh(RefreshFlight, any ErasedCredential)
        /// Cancel a refresh; it still reports its end.
        case cancelRefresh(RefreshFlight)
        /// End a session; comes before whatever wakes its calls.
        case end(CallSession, RefreshError)
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
