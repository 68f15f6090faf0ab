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

    /// When the next refresh of `held` may start; nil while two refreshes of it are running. If a
    /// refresh outlasts both its cancellation and its grace, a second may start beside it and may get through. If both
    /// hang, a third would hang as well.
    private func nextStart(of held: HeldCredential, notBefore earliest: Duration) -> Duration? {
        guard running.count(where: { $0.generation == held.versioned.generation }) < 2 else { return nil }
        return max(earliest, windowOpening)
    }

    /// Notes that a refresh has ended, in whichever way.
    private mutating func noteEnd(of flight: RefreshFlight) {
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
    private mutating func begin(_ held: HeldCredential, at now: Duration) throws(RefreshError) -> [Action] {
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

    /// Ends the present session, and begins the next.
    mutating func turn(endingWith error: RefreshError) -> Action {
        let ended = session
        beginNext()
        return .end(ended, error)
    }

    /// Begins the next session.
    mutating func beginNext() { session = upcoming ?? newSession() }

    /// Begins the session that calls have already, where nobody's changes otherwise.
    mutating func beginUpcoming() { if let upcoming { session = upcoming } }

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

// MARK: - How a refresh ends

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

    private mutating func fail(
        _ flight: RefreshFlight,
        with error: any Error,
        coolDown: Duration,
        passes: Bool,
        at now: Duration
    ) -> [Action] {
        noteEnd(of: flight)
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        switch state {
        case .refreshing(let held, flight):
            state = .coolingDown(held, flight.coolDown(of: coolDown, after: error, passes: passes, at: now))
            let start = nextStart
            let failure = error.asRecursion ?? .failed(remaining: (start ?? now) - now, underlying: error)
            return failWaiters(with: failure, until: passes ? start : nil, of: held) + [ended]
        case .coolingDown(let held, var coolDown) where coolDown.overdue?.flight == flight:
            coolDown.overdue = nil
            state = .coolingDown(held, coolDown)
            return [ended]
        default:
            // Another refresh or another session has replaced it.
            return [ended]
        }
    }

    private mutating func expire(_ flight: RefreshFlight, with error: any Error) -> [Action] {
        noteEnd(of: flight)
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        // If another refresh has replaced this one, it may have failed because of that.
        guard state.held != nil, state.flight == flight else { return [ended] }
        return expire(with: error, endOf: flight) + [ended]
    }

    /// Ends the session for good, if there is one; if not, calls are told from now on why there is none.
    mutating func expire(with error: any Error, endOf flight: RefreshFlight? = nil) -> [Action] {
        let held = state.held
        let failure = RefreshError.sessionExpired(underlying: error)
        let released = release(resumingWith: .failure(failure), endOf: flight)
        state = .signedOut(expiredBy: error)
        epoch += 1
        guard let held else {
            beginUpcoming()
            return released
        }
        return [turn(endingWith: failure)] + released + [
            .announce(.session(.sessionExpired(generation: held.versioned.generation, failure)))
        ]
    }

    private mutating func overrun(_ flight: RefreshFlight, coolDown: Duration, at now: Duration) -> [Action] {
        guard case .refreshing(let held, flight) = state else { return [] }
        let freedAt = now + limits.grace
        let start = nextStart(of: held, notBefore: max(freedAt, now + coolDown.clampedToCentury))
        let failure = RefreshError.timedOut(limit: limits.timeLimit, remaining: start.map { $0 - now })
        var pause = flight.coolDown(of: coolDown, after: failure, passes: true, at: now)
        pause.overdue = .init(flight: flight, freedAt: freedAt)
        state = .coolingDown(held, pause)
        return [.cancelRefresh(flight)] + failWaiters(with: failure, until: start, of: held)
    }

    /// Starts the refresh that calls wait for, when its time has come.
    private mutating func endCoolDown(at now: Duration) -> [Action] {
        guard case .coolingDown(let held, _) = state else { return [] }
        do throws(RefreshError) {
            return try begin(held, at: now)
        } catch .coolingDown {
            // Too early: the refresh will be asked for again.
            return []
        } catch {
            return [.failWaiters(error, until: nil)]
        }
    }

    private func failWaiters(with error: RefreshError, until start: Duration?, of held: HeldCredential) -> [Action] {
        [
            .failWaiters(error, until: start),
            .announce(.session(.refreshFailed(generation: held.versioned.generation, error))),
        ]
    }
}

extension Error {
    /// The error itself if it is ``RefreshError/recursive``, which does not pass with time; nil for any other.
    var asRecursion: RefreshError? {
        if case RefreshError.recursive = self as any Error { .recursive } else { nil }
    }
}

extension RefreshFlight {
    fileprivate func coolDown(
        of length: Duration,
        after cause: any Error,
        passes: Bool,
        at now: Duration
    ) -> RefreshCoolDown {
        RefreshCoolDown(
            end: now + length.clampedToCentury,
            length: length,
            failures: failures + 1,
            cause: cause,
            isTransient: passes
        )
    }
}
