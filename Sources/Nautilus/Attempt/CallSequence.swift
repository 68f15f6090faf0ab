/// Calls that continue one another: the pages of a list, the connections of a stream, the requests of a long poll.
///
/// All of them belong to the environment and to the sessions in which the first one began: a list begun as one user
/// gets none of the next user's pages. `Request.response(with:in:)` makes a call one of a sequence. A call that would
/// go to another environment fails with ``FailureKind/environmentChanged(_:)``, and one whose session is
/// over with the ``RefreshError`` underneath that says how it has ended.
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
        /// The facts of the first user's call, and of the first guest's.
        var facts: (user: CallFacts?, guest: CallFacts?)
        /// The session of each lease of the first call's retrier, in the order in which the leases were made.
        var owners: [Owner] = []
        /// The number of the latest retrier.
        var lastRetrier = 0
        /// Whether a retrier has been made.
        var hasRetrier = false
        var leases = LeaseCounts()
    }

    /// A session of the first call.
    private struct Owner: Sendable {
        let session: any SequenceSession
        /// False for the time in which nobody is signed in: it does not end for calls without a credential, and no
        /// other can begin in it. Nil while it is not known whether somebody is, which counts as true.
        var isOfUser: Bool?
        /// Whether it was known from the beginning.
        let isKnown: Bool

        init(_ session: any SequenceSession) {
            (self.session, isOfUser) = (session, session.isOfUser)
            isKnown = isOfUser != nil
        }

        /// Whether calls of the session end with it.
        var bindsCalls: Bool { isOfUser ?? true }
    }

    private let state = Locked(State())

    /// Creates a sequence without any calls.
    public init() {}

    /// Records where the first call goes, and checks that every other call goes there as well.
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

    /// The facts that were noted for the first call: all others belong to the same account, except for a guest's calls
    /// among a user's.
    ///
    /// - Parameters:
    ///   - base: The service's base URL; nil when it is invalid.
    ///   - isForGuest: Whether the call is a guest's.
    func facts(at base: BaseUrl?, isForGuest: Bool, noting note: (inout CallFacts) -> Void) -> CallFacts {
        if let facts = state.withLock({ isForGuest ? $0.facts.guest : $0.facts.user }) { return facts }
        // Not under the lock, since this calls the user's own code.
        var facts = CallFacts(environment: base?.place ?? "")
        facts.isSignedOut = isForGuest
        note(&facts)
        return state.withLock { state in
            let first = (isForGuest ? state.facts.guest : state.facts.user) ?? facts
            if isForGuest { state.facts.guest = first } else { state.facts.user = first }
            return first
        }
    }

    /// Makes the retrier of one of the calls; leases created meanwhile take their places in the sequence.
    func making<R>(_ make: () -> R) -> R {
        let (number, isFirst) = state.withLock { state in
            state.lastRetrier += 1
            return (state.lastRetrier, !state.hasRetrier)
        }
        defer {
            state.withLock { state in
                state.hasRetrier = true
                state.leases.forget(number)
            }
        }
        return Self.$beginning.withValue(Beginning(sequence: self, number: number, isFirst: isFirst), operation: make)
    }

    /// The place of a lease that is being created now; nil when the lease is not for a call.
    static func nextPlace() -> Place? {
        beginning?.nextPlace()
    }

    /// A call of the sequence whose retrier is being made.
    private struct Beginning: Sendable {
        let sequence: CallSequence
        /// The retrier's number in the sequence.
        let number: Int
        /// Whether no retrier of the sequence had been made before: true for all calls with which it begins at once.
        let isFirst: Bool

        func nextPlace() -> Place {
            let index = sequence.state.withLock { $0.leases.next(of: number) }
            return Place(sequence: sequence, index: index, isOfFirstCall: isFirst)
        }
    }

    /// The place of a lease among those that each call of the sequence has.
    struct Place: Sendable {
        fileprivate let sequence: CallSequence
        fileprivate let index: Int
        fileprivate let isOfFirstCall: Bool

        /// The session of the first call's lease at this place; for the first call itself, this is `beginning`.
        ///
        /// - Returns: Nil when the first call had no such lease, or one of another type: then the sequence did not
        ///   begin as the user whose credential the lease shares.
        func session<Session: SequenceSession>(orBeginning beginning: Session) -> (Session, isFirst: Bool)? {
            sequence.state.withLock { state in
                if index < state.owners.count {
                    return (state.owners[index].session as? Session).map { ($0, false) }
                }
                guard isOfFirstCall else { return nil }
                state.owners.append(Owner(beginning))
                return (beginning, true)
            }
        }

        /// Notes that the first call actually began in another session.
        func replaceSession(by session: some SequenceSession) {
            sequence.state.withLock { state in
                if index < state.owners.count { state.owners[index] = Owner(session) }
            }
        }
    }
}

/// How many leases each retrier that is being made has so far, by its number. Nearly always, it is one retrier.
private struct LeaseCounts: Sendable {
    private var first: (retrier: Int, count: Int)?
    private var others: [Int: Int] = [:]

    /// Counts one more.
    ///
    /// - Returns: How many there were before.
    mutating func next(of retrier: Int) -> Int {
        let count = first.flatMap { $0.retrier == retrier ? $0.count : nil } ?? others[retrier] ?? 0
        if first == nil || first?.retrier == retrier {
            first = (retrier, count + 1)
        } else {
            others[retrier] = count + 1
        }
        return count
    }

    mutating func forget(_ retrier: Int) {
        if first?.retrier == retrier { first = nil }
        if !others.isEmpty { others[retrier] = nil }
    }
}

/// A session in which a sequence of calls began.
protocol SequenceSession: AnyObject, Sendable {
    /// Whether somebody is signed in; nil if that is not known.
    var isOfUser: Bool? { get }
    /// Why the session is over; nil while it goes on.
    var end: (any Error)? { get }
    /// Begins to check whether the session has been ended elsewhere.
    func look()
    /// Returns when the session is over, or when the task is cancelled.
    func waitForEnd() async
}

extension CallSequence {
    /// Whether the calls belong to a user's session, which may end.
    public var hasSession: Bool { state.withLock { $0.owners.contains(where: \.bindsCalls) } }

    /// Whether the first call's retrier has a credential for its requests, or may get one before they are sent.
    var hasLease: Bool { state.withLock { !$0.owners.isEmpty } }

    /// Notes whether a request that goes out now carries a credential. Where it was not known in the beginning whether
    /// somebody is signed in, that tells: the sequence is a user's from the first credential on.
    func noteStamping(of request: HttpRequest) {
        state.withLock { state in
            for index in state.owners.indices where !state.owners[index].isKnown {
                let isOfUser = state.owners[index].isOfUser == true || request.isStamped
                state.owners[index].isOfUser = isOfUser
            }
        }
    }

    private var users: [any SequenceSession] {
        state.withLock { state in state.owners.filter(\.bindsCalls).map(\.session) }
    }

    /// The user's session in a sequence that has just one, as nearly all have.
    private var onlyUser: (any SequenceSession)? {
        state.withLock { state in
            guard state.owners.count == 1, let owner = state.owners.first, owner.bindsCalls else { return nil }
            return owner.session
        }
    }

    /// The failure of any continuation once one of the sessions in which the first call began is over; nil while they
    /// all go on, and when it began in none.
    public var endOfSession: HttpError? {
        let end = if let onlyUser { onlyUser.end } else { users.lazy.compactMap(\.end).first }
        return end.map { HttpError(wrapping: $0, stage: .prepare, delivery: .notSent) }
    }

    /// Begins to check whether one of the sessions has been ended elsewhere. To be called when messages are sent or
    /// received over an open connection; calls check by themselves.
    public func lookForChanges() {
        for user in users { user.look() }
    }

    /// Sleeps, but no longer than until one of the sessions is over.
    ///
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration, on clock: any Clock<Duration>) async throws {
        guard hasSession else { return try await clock.sleep(for: duration) }
        if endOfSession != nil { return try Task.checkCancellation() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await clock.sleep(for: duration)
                return true
            }
            group.addTask {
                await self.waitForEndOfSession()
                return false
            }
            defer { group.cancelAll() }
            // Meanwhile it may have become known that the sequence is of nobody's session.
            if try await group.next() == false, endOfSession == nil { _ = try await group.next() }
        }
    }

    /// Returns when one of the sessions in which the first call began is over, or when the task is cancelled; at once
    /// when it began in none.
    public func waitForEndOfSession() async {
        if let onlyUser { return await onlyUser.waitForEnd() }
        let users = users
        await withTaskGroup(of: Void.self) { group in
            for user in users { group.addTask { await user.waitForEnd() } }
            await group.next()
            group.cancelAll()
        }
    }
}

extension CallSequence: Redacted {
    /// Where its calls go; not the query of the base, which may hold a key.
    public var description: String {
        "CallSequence(\(state.withLock { $0.environment }?.origin.description ?? "no call yet"))"
    }
}

extension BaseUrl {
    /// Checks that a service is still at this base.
    ///
    /// - Throws: ``EnvironmentChange``.
    func check(_ present: BaseUrl) throws(EnvironmentChange) {
        guard self === present || isSamePlace(as: present) else {
            throw EnvironmentChange(from: origin, to: present.origin)
        }
    }
}
