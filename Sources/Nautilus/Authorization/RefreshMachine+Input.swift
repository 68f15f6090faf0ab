extension RefreshMachine {
    /// An input of the machine.
    enum Input: Sendable {
        /// A call asks for a credential.
        case ask(Question)
        /// The app signs in; the lifetime counts from now.
        case signIn(any SealedCredential, lifetime: Duration?)
        /// The app signs out.
        case signOut
        /// A credential of this generation has been refreshed elsewhere.
        case replace(generation: Int, any SealedCredential, lifetime: Duration?)
        /// The store that processes share has changed; it counts only if nothing has happened here since `epoch`.
        case adopt(Adoption, since: Int)
        /// A refresh has ended with a credential.
        case refreshSucceeded(RefreshFlight, any SealedCredential, lifetime: Duration?)
        /// A refresh has ended with an error.
        case refreshFailed(RefreshFlight, Failure)
        /// A refresh's time is up; the cool-down that follows if it is still in flight.
        case timeLimitReached(RefreshFlight, coolDown: Duration)
        /// A cool-down that calls have waited out is over.
        case coolDownEnded
    }

    /// A change of the session by another process.
    enum Adoption: Sendable {
        /// It has refreshed.
        case replacement(any SealedCredential, lifetime: Duration?)
        /// Somebody has signed in.
        case session(any SealedCredential, lifetime: Duration?)
        /// The user has signed out.
        case nothing
        /// A refresh has failed for good.
        case expiry(any Error)
    }

    /// How a refresh failed.
    enum Failure: Sendable {
        /// For now: the next one may start after the cool-down. `passes` tells whether it may do better by itself.
        case transient(any Error, coolDown: Duration, passes: Bool = true)
        /// For good.
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
        case answer(Result<SealedGrant, RefreshError>)
        /// The call that asked waits with the others.
        case wait
        /// The call that asked waits for the next refresh, which starts at `until`; without the time it fails.
        case waitOut(RefreshError, until: Duration)
        /// All that wait go on.
        case resumeWaiters(Result<SealedGrant, RefreshError>)
        /// The calls that wait go on waiting for the next refresh, which starts at `until`; those without the time
        /// fail, and so do all when it is nil.
        case failWaiters(RefreshError, until: Duration?)
        /// Run the refresh, and its timer.
        case startRefresh(RefreshFlight, any SealedCredential)
        /// Cancel a refresh; it reports its end all the same.
        case cancelRefresh(RefreshFlight)
        /// Notify the watchers.
        case announce(Announcement)
    }

    /// A notification of the watchers.
    enum Announcement: Sendable {
        /// For the subscribers of ``RefreshCoordinator/events``.
        case session(RefreshEvent)
        /// For the observer.
        case call(CallEvent)
    }
}
