/// Calls that continue one another: the pages of a list, the connections of a stream, the questions of a long poll.
///
/// All of them belong to the environment and to the sessions that the first began in: a list begun as one user gets no page
/// of the next user's. Calls are made one of a sequence by `Request.response(with:in:)`; one that would go to another
/// environment fails with ``FailureKind/environmentChanged(_:)``, and one that would go out as another user with
/// ``RefreshError/superseded`` underneath.
///
/// ```swift
/// let calls = CallSequence()
/// while true {
///     let news = try await WaitForNews(after: last).response(with: service, in: calls).body
///     if let end = calls.endOfSession { throw end }  // the user has left while the answer came
///     last = show(news)
/// }
/// ```
public struct CallSequence: Sendable {
    /// The sequence of the call whose retrier is being made in the current task.
    @TaskLocal private static var beginning: Beginning?

    private struct State: Sendable {
        var environment: BaseUrl?
        var facts: CallFacts?
        /// The session of each lease that the first call's retrier has, in the order in which they were made.
        var owners: [Owner<any Sendable>] = []
        /// The number of the retrier that was made last.
        var lastRetrier = 0
        /// How many leases each retrier has that is being made, by its number; none for one without leases.
        var leases: [Int: Int] = [:]
    }

    /// A session of the first call, and how the sequence learns that it has ended.
    struct Owner<Session: Sendable>: Sendable {
        let session: Session
        /// Why the session is over; nil while it goes on.
        let end: @Sendable () -> (any Error)?
        /// Begins to look whether it has been ended elsewhere.
        let look: @Sendable () -> Void
        /// Returns when the session is over, and when the task is cancelled.
        let waitForEnd: @Sendable () async -> Void

        fileprivate var erased: Owner<any Sendable> {
            Owner<any Sendable>(session: session, end: end, look: look, waitForEnd: waitForEnd)
        }
    }

    private let state = Locked(State())

    /// Creates a sequence without any calls.
    public init() {}

    /// Notes where the first call goes, and looks whether every other one goes there as well.
    ///
    /// - Throws: ``EnvironmentChange``.
    func begin(at base: BaseUrl) throws(EnvironmentChange) {
        let first = state.withLock { state in
            let first = state.environment ?? base
            state.environment = first
            return first
        }
        try first.check(base)
    }

    /// The facts that were noted of the first call: all others belong to the same account.
    ///
    /// - Parameter base: The service's; nil when it is invalid.
    func facts(at base: BaseUrl?, noting note: (inout CallFacts) -> Void) -> CallFacts {
        if let facts = state.withLock({ $0.facts }) { return facts }
        // Not under the lock: it asks the user's own code.
        var facts = CallFacts(environment: base?.place ?? "")
        note(&facts)
        state.withLock { $0.facts = $0.facts ?? facts }
        return facts
    }

    /// Makes the retrier of one of the calls, whose leases find their places meanwhile.
    func making<R>(_ make: () -> R) -> R {
        let number = state.withLock { state in
            state.lastRetrier += 1
            return state.lastRetrier
        }
        defer {
            state.withLock { state in
                if !state.leases.isEmpty { state.leases[number] = nil }
            }
        }
        return Self.$beginning.withValue(Beginning(sequence: self, number: number), operation: make)
    }

    /// The place of a lease that is made now; nil when that is not for a call.
    static func nextPlace() -> Place? {
        beginning?.nextPlace()
    }

    /// A call of the sequence, while its retrier is made.
    private struct Beginning: Sendable {
        let sequence: CallSequence
        /// The retrier's number in the sequence.
        let number: Int

        func nextPlace() -> Place {
            let index = sequence.state.withLock { state in
                defer { state.leases[number, default: 0] += 1 }
                return state.leases[number, default: 0]
            }
            return Place(sequence: sequence, index: index)
        }
    }

    /// One of the leases that each call of the sequence has.
    struct Place: Sendable {
        fileprivate let sequence: CallSequence
        fileprivate let index: Int

        /// The session that the first call's lease began in: `beginning` for the first call itself.
        ///
        /// - Returns: Nil when the first call had none, or one of another kind: then nothing is known of it.
        func session<Session>(orBeginning beginning: Owner<Session>) -> (Session, isFirst: Bool)? {
            sequence.state.withLock { state in
                if index < state.owners.count {
                    return (state.owners[index].session as? Session).map { ($0, false) }
                }
                guard index == state.owners.count else { return nil }
                state.owners.append(beginning.erased)
                return (beginning.session, true)
            }
        }

        /// Notes that the first call turns out to have begun in another session.
        func replaceSession<Session>(by owner: Owner<Session>) {
            sequence.state.withLock { state in
                if index < state.owners.count { state.owners[index] = owner.erased }
            }
        }
    }
}

extension CallSequence {
    /// Whether its calls belong to a user's session, which may end.
    public var hasSession: Bool { state.withLock { !$0.owners.isEmpty } }

    /// The failure of what continues the first call once one of the sessions is over that it began in; nil while they go on,
    /// and when it began in none.
    public var endOfSession: HttpError? {
        for owner in state.withLock({ $0.owners }) {
            if let end = owner.end() { return HttpError(wrapping: end, stage: .prepare, delivery: .notSent) }
        }
        return nil
    }

    /// Begins to look whether one of the sessions has been ended elsewhere. For an open connection, over which
    /// something comes or goes: a call looks by itself.
    public func lookForChanges() {
        for owner in state.withLock({ $0.owners }) { owner.look() }
    }

    /// Sleeps, until one of the sessions is over at most.
    ///
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration, on clock: any Clock<Duration>) async throws {
        guard hasSession else { return try await clock.sleep(for: duration) }
        if endOfSession != nil { return try Task.checkCancellation() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: duration) }
            group.addTask { await self.waitForEndOfSession() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Returns when one of the sessions is over that the first call began in, and when the task is cancelled; at once
    /// when it began in none.
    public func waitForEndOfSession() async {
        let owners = state.withLock { $0.owners }
        if owners.count == 1 { return await owners[0].waitForEnd() }
        await withTaskGroup(of: Void.self) { group in
            for owner in owners { group.addTask { await owner.waitForEnd() } }
            await group.next()
            group.cancelAll()
        }
    }
}

extension BaseUrl {
    /// Looks whether a service is still at this base.
    ///
    /// - Throws: ``EnvironmentChange``.
    func check(_ present: BaseUrl) throws(EnvironmentChange) {
        guard self === present || isSamePlace(as: present) else {
            throw EnvironmentChange(from: origin, to: present.origin)
        }
    }
}
