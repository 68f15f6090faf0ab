/// The state that calls which continue one another have in common: the pages of a list, the connections of a stream, a
/// call and the requests that are made again in its name.
///
/// All of them belong to the environment and to the sessions that the first began in. A list begun as one user gets no
/// page of the next user's.
final class CallSequence: Sendable {
    /// The sequence of the call whose retrier is being made in the current task.
    @TaskLocal private static var beginning: Beginning?

    private struct State: Sendable {
        var environment: BaseUrl?
        var facts: CallFacts?
        /// The session of each lease that the first call's retrier has, in the order in which they were made.
        var sessions: [Session] = []
    }

    private struct Session: Sendable {
        let mark: any Hashable & Sendable
        let isOver: @Sendable () -> Bool
        let waitForEnd: @Sendable () async -> Void

        init<Mark: Hashable & Sendable>(
            _ mark: Mark,
            _ present: @escaping @Sendable () -> Mark,
            _ waitForEnd: @escaping @Sendable (Mark) async -> Void
        ) {
            self.mark = mark
            self.isOver = { present() != mark }
            self.waitForEnd = { await waitForEnd(mark) }
        }
    }

    private let state = Locked(State())

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
        Self.$beginning.withValue(Beginning(of: self), operation: make)
    }

    /// The place of a lease that is made now; nil when that is not for a call.
    static func nextPlace() -> Place? {
        beginning?.nextPlace()
    }

    /// A call of the sequence, while its retrier is made.
    private struct Beginning: Sendable {
        private let sequence: CallSequence
        private let count = Locked(0)

        init(of sequence: CallSequence) {
            self.sequence = sequence
        }

        func nextPlace() -> Place {
            let index = count.withLock { count in
                defer { count += 1 }
                return count
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
        /// - Parameters:
        ///   - present: The session that goes on at any time.
        ///   - waitForEnd: Returns when a session is over, and when the task is cancelled.
        /// - Returns: Nil when the first call had none, or one of another kind: then nothing is known of it.
        func session<Mark: Hashable & Sendable>(
            orBeginning beginning: Mark,
            _ present: @escaping @Sendable () -> Mark,
            _ waitForEnd: @escaping @Sendable (Mark) async -> Void
        ) -> (Mark, isFirst: Bool)? {
            sequence.state.withLock { state in
                if index < state.sessions.count {
                    return (state.sessions[index].mark as? Mark).map { ($0, false) }
                }
                guard index == state.sessions.count else { return nil }
                state.sessions.append(Session(beginning, present, waitForEnd))
                return (beginning, true)
            }
        }

        /// Notes that the first call turns out to have begun in another session.
        func replaceSession<Mark: Hashable & Sendable>(
            by mark: Mark,
            _ present: @escaping @Sendable () -> Mark,
            _ waitForEnd: @escaping @Sendable (Mark) async -> Void
        ) {
            sequence.state.withLock { state in
                if index < state.sessions.count { state.sessions[index] = Session(mark, present, waitForEnd) }
            }
        }
    }
}

extension CallSequence {
    /// Whether its calls carry a user's credential.
    var hasSession: Bool { state.withLock { !$0.sessions.isEmpty } }

    /// Whether one of the sessions is over that the first call began in.
    var isSessionOver: Bool { state.withLock { $0.sessions }.contains { $0.isOver() } }

    /// Returns when one of the sessions is over that the first call began in, and when the task is cancelled; at once
    /// when it began in none.
    func waitForEndOfSession() async {
        let sessions = state.withLock { $0.sessions }
        await withTaskGroup(of: Void.self) { group in
            for session in sessions { group.addTask { await session.waitForEnd() } }
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
