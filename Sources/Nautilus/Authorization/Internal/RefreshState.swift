/// A coordinator's knowledge of its session; ``RefreshMachine`` alone changes it.
enum RefreshState: Sendable {
    /// No credential: nobody is signed in, or a refresh failed for good with this error and nobody has signed in since.
    case signedOut(expiredBy: (any Error)?)
    /// A credential, and no refresh under way.
    case idle(HeldCredential)
    /// A refresh is in flight, in the background if the credential still serves.
    case refreshing(HeldCredential, RefreshFlight)
    /// The last refresh failed; an overdue one may still be running.
    case coolingDown(HeldCredential, RefreshCoolDown)

    /// The credential that is held, and what is known of it; nil when nobody is signed in.
    var held: HeldCredential? {
        switch self {
        case .signedOut: nil
        case .idle(let held), .refreshing(let held, _), .coolingDown(let held, _): held
        }
    }

    /// The refresh that holds the slot, either in flight or overdue and not known to have ended; nil when there is
    /// none.
    var flight: RefreshFlight? {
        switch self {
        case .signedOut, .idle: nil
        case .refreshing(_, let flight): flight
        case .coolingDown(_, let coolDown): coolDown.overdue?.flight
        }
    }

    /// How many refreshes have failed in a row.
    var failures: Int {
        switch self {
        case .signedOut, .idle: 0
        case .refreshing(_, let flight): flight.failures
        case .coolingDown(_, let coolDown): coolDown.failures
        }
    }

    /// Whether a refresh is in flight, even in the background.
    var isRefreshing: Bool {
        if case .refreshing = self { true } else { false }
    }

    /// Whether retries have to wait: a refresh is in flight, and the credential does not serve until it ends.
    func holdsRetries(at now: Duration) -> Bool {
        guard case .refreshing(let held, _) = self else { return false }
        return !held.serves(at: now)
    }
}

/// The present credential, and how long it serves. Its session is a `CallSession`, which ``versioned`` names.
struct HeldCredential: Sendable {
    /// The present credential with its generation.
    var versioned: ErasedVersionedCredential
    /// When the credential expires; nil for never.
    var expiry: CredentialExpiry?
    /// Whether the server has rejected this very credential.
    var isRejected = false

    /// Whether calls may be sent with the credential.
    func serves(at now: Duration) -> Bool {
        guard !isRejected else { return false }
        return expiry.map { now < $0.end } ?? true
    }

    /// The credential that replaces it in the same session.
    func next(_ versioned: ErasedVersionedCredential, expiry: CredentialExpiry?) -> HeldCredential {
        HeldCredential(versioned: versioned, expiry: expiry)
    }

    /// Whether it is time to refresh in the background.
    func isDue(at now: Duration) -> Bool {
        expiry.map { now >= $0.leewayStart } ?? false
    }
}

/// When a credential stops serving, on the coordinator's stopwatch.
struct CredentialExpiry: Hashable, Sendable {
    /// From this time the credential is refreshed in the background.
    let leewayStart: Duration
    /// From this time the credential no longer serves.
    let end: Duration

    init(receivedAt now: Duration, lifetime: Duration, limits: RefreshLimits) {
        end = now + lifetime.clampedToCentury
        leewayStart = end - limits.leeway(forLifetime: lifetime)
    }
}

/// One refresh, as the machine knows it.
struct RefreshFlight: Hashable, Sendable {
    /// The refresh's number, never repeated.
    let id: Int
    /// The generation that the refresh replaces; its result counts only while that generation is the present one.
    let generation: Int
    /// How many refreshes failed in a row before it.
    let failures: Int
    /// The cool-down before it; zero when it does not follow a failure.
    let previousCoolDown: Duration
}

/// The time after a failed refresh during which no other starts.
struct RefreshCoolDown: Sendable {
    /// A refresh that ran into its time limit and has not ended.
    struct Overdue: Sendable {
        let flight: RefreshFlight
        /// When the slot is freed even if the refresh has not ended.
        let freedAt: Duration
    }

    /// When the cool-down ends, regardless of an overdue refresh.
    let end: Duration
    /// How long the whole cool-down is.
    let length: Duration
    /// How many refreshes have failed in a row.
    let failures: Int
    /// Why the last refresh failed.
    let cause: any Error
    /// Whether the next refresh may succeed without any change, so that calls wait for it.
    let isTransient: Bool
    /// The refresh that still holds the slot; nil when it is known to have ended.
    var overdue: Overdue?
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
        /// The session of the credential that the call last carried; nil when it has carried none.
        var session: CallSession?
    }

    /// An action to take after a transition, outside of the lock.
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
