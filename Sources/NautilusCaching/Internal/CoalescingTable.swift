import Nautilus

/// The verdict for a call that has waited for another's exchange.
enum CoalescingVerdict<Outcome: Sendable>: Sendable {
    /// Take this outcome; it is meant for all.
    case share(Outcome)
    /// Make the exchange in place of a leader whose outcome is its own, for example because it was cancelled.
    case lead(Int)
    /// Go on alone, since the outcome belongs to one call only.
    case goAlone
}

/// The state that coalescing guards with its lock: the exchanges under way, and the calls that wait for each. Its
/// transitions are pure, without locks or tasks.
struct CoalescingTable<Key: Hashable & Sendable, Outcome: Sendable, Waiter: Identifiable & Sendable>: Sendable
where Waiter.ID: Sendable {
    typealias Verdict = CoalescingVerdict<Outcome>

    /// A request's key, its urgency, and its call.
    struct Visit: Sendable {
        let key: Key
        var urgency = 0
        var call = CallIdentity.none
    }

    /// The role of a request.
    enum Role: Hashable, Sendable {
        /// Make the exchange, for all identical requests that come meanwhile.
        case lead(Int)
        /// Wait for the exchange under way.
        case follow
        /// Neither lead nor follow.
        case goAlone
    }

    private struct Leader: Sendable {
        let number: Int
        let urgency: Int
        let call: CallIdentity
    }

    private struct Follower: Identifiable, Sendable {
        let waiter: Waiter
        let urgency: Int
        let call: CallIdentity
        var id: Waiter.ID { waiter.id }
    }

    private struct Flight: Sendable {
        /// How many changes had ended when the flight began. Its answer may be older than a later change.
        let changes: Int64
        /// The leaders, which make the exchange: the first, and any later one that was more urgent than those before
        /// it.
        var leaders: [Leader] = []
        var followers = WaitQueue<Follower>()

        /// The highest urgency among the leaders; nil when there are none.
        var urgency: Int? { leaders.map(\.urgency).max() }
    }

    /// The flights of each key, one per number of changes; nearly always just one.
    private var flights: [Key: [Flight]] = [:]
    private var lastNumber = 0
    /// How often each call leads.
    private var waitedFor: [UInt64: Int] = [:]
    /// How many requests that may have changed something have ended.
    private(set) var changes: Int64 = 0

    /// How many exchanges are under way, and how many calls wait for one.
    var counts: (flights: Int, followers: Int) {
        flights.values.joined().reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.followers.count) }
    }

    /// Notes a possible change: a request that comes from now on is not answered by an earlier exchange.
    mutating func noteChange() {
        changes += 1
    }

    /// Leads, unless an equally urgent request already does. Behind a less urgent leader, the request would have to
    /// wait wherever that one does later on.
    mutating func begin(_ visit: Visit) -> Role {
        // An enclosing call leads and is waited for; waiting here for another exchange could wait for that very call.
        if visit.call.ancestors.contains(where: { waitedFor[$0] != nil }) { return .goAlone }
        if let urgency = current(visit.key)?.urgency, urgency >= visit.urgency { return .follow }
        return .lead(addLeader(visit.key, urgency: visit.urgency, call: visit.call))
    }

    /// Waits for the exchange under way, unless it has ended since the first look.
    mutating func join(_ visit: Visit, _ waiter: Waiter) -> Role {
        let role = begin(visit)
        if role == .follow { add(Follower(waiter: waiter, urgency: visit.urgency, call: visit.call), visit.key) }
        return role
    }

    /// Removes a waiter; nil when it is not waiting, because it has already got its verdict.
    mutating func leave(_ key: Key, _ id: Waiter.ID) -> Waiter? {
        defer { removeIdle(key) }
        for index in flights[key]?.indices ?? 0..<0 {
            if let follower = flights[key]?[index].followers.remove(id) { return follower.waiter }
        }
        return nil
    }

    /// Ends a leader's exchange with an outcome for all.
    ///
    /// - Returns: The verdict for each follower, the most urgent first; nothing when the leader no longer leads.
    mutating func end(_ key: Key, leader number: Int, sharing outcome: Outcome) -> [(Waiter, Verdict)] {
        guard let (_, index) = removeLeader(key, number) else { return [] }
        return removeFollowers(key, index).map { ($0, .share(outcome)) }
    }

    /// Ends a leader's exchange with a failure. Those whose urgency another leader serves wait for that one, which may
    /// succeed.
    ///
    /// - Parameter isOfType: Whether the failure is theirs alone whose requests are of the leader's type, and read the
    ///   answer as it does; the others wait for one of their own to make the exchange.
    mutating func end(_ key: Key, leader number: Int, failing outcome: Outcome, isOfType: Bool) -> [(Waiter, Verdict)] {
        guard let (leader, index) = removeLeader(key, number) else { return [] }
        let type = leader.call.requestType.map { ObjectIdentifier($0) }
        let served = flights[key]?[index].urgency
        let told = flights[key]?[index].followers.remove(where: { follower in
            if let served, follower.urgency <= served { return false }
            return !isOfType || follower.call.requestType.map { ObjectIdentifier($0) } == type
        })
        return (told ?? []).map { ($0.waiter, .share(outcome)) } + promote(key, index)
    }

    /// Replaces a leader that has left by the most urgent follower, and among equals by the one that has waited
    /// longest; by none where an equally urgent leader remains.
    mutating func leave(_ key: Key, leader number: Int) -> [(Waiter, Verdict)] {
        removeLeader(key, number).map { promote(key, $0.1) } ?? []
    }

    private mutating func promote(_ key: Key, _ index: Int) -> [(Waiter, Verdict)] {
        guard let flight = flights[key]?[index] else { return [] }
        defer { removeIdle(key) }
        guard let next = flight.followers.first, next.urgency > flight.urgency ?? .min else { return [] }
        _ = flights[key]?[index].followers.popFirst()
        return [(next.waiter, .lead(addLeader(key, index, urgency: next.urgency, call: next.call)))]
    }

    /// Ends the sharing of an exchange that turns out to be useless to others: it goes on, and its followers go alone.
    mutating func disband(_ key: Key, leader number: Int) -> [(Waiter, Verdict)] {
        guard let (_, index) = removeLeader(key, number) else { return [] }
        return removeFollowers(key, index).map { ($0, .goAlone) }
    }
}

// MARK: - Flights

extension CoalescingTable {
    /// The flight for requests that come now; nil when there is none.
    private func current(_ key: Key) -> Flight? { flights[key]?.last { $0.changes == changes } }

    private mutating func currentIndex(_ key: Key) -> Int {
        if let index = flights[key]?.lastIndex(where: { $0.changes == changes }) { return index }
        flights[key, default: []].append(Flight(changes: changes))
        return flights[key, default: []].count - 1
    }

    private mutating func add(_ follower: Follower, _ key: Key) {
        let index = currentIndex(key)
        flights[key]?[index].followers.append(follower, urgency: follower.urgency)
    }

    private mutating func addLeader(_ key: Key, urgency: Int, call: CallIdentity) -> Int {
        addLeader(key, currentIndex(key), urgency: urgency, call: call)
    }

    private mutating func addLeader(_ key: Key, _ index: Int, urgency: Int, call: CallIdentity) -> Int {
        lastNumber += 1
        flights[key]?[index].leaders.append(Leader(number: lastNumber, urgency: urgency, call: call))
        waitedFor[call.id, default: 0] += 1
        return lastNumber
    }

    /// - Returns: The leader, and the index of its flight; nil when it no longer leads.
    private mutating func removeLeader(_ key: Key, _ number: Int) -> (Leader, Int)? {
        for (index, flight) in (flights[key] ?? []).enumerated() {
            guard let place = flight.leaders.firstIndex(where: { $0.number == number }) else { continue }
            flights[key]?[index].leaders.remove(at: place)
            release(flight.leaders[place])
            return (flight.leaders[place], index)
        }
        return nil
    }

    private mutating func removeFollowers(_ key: Key, _ index: Int) -> [Waiter] {
        defer { removeIdle(key) }
        return flights[key]?[index].followers.removeAll().map(\.waiter) ?? []
    }

    private mutating func release(_ leader: Leader) {
        let count = waitedFor[leader.call.id] ?? 0
        waitedFor[leader.call.id] = count > 1 ? count - 1 : nil
    }

    private mutating func removeIdle(_ key: Key) {
        for index in (flights[key]?.indices ?? 0..<0).reversed() {
            guard let flight = flights[key]?[index], flight.leaders.isEmpty, flight.followers.count == 0 else {
                continue
            }
            flights[key]?.remove(at: index)
        }
        if flights[key]?.isEmpty == true { flights[key] = nil }
    }
}

/// The values that make requests identical.
struct CoalescingKey: Hashable, Sendable {
    let partition: CachePartition
    /// The key of the calls' retriers.
    private let alike: SharingKey
    private let method: HttpMethod
    private let target: CacheTarget
    private let header: HttpHeader
    /// Part of the key, so that a request that may take longer does not fail with another's timeout.
    private let timeout: Duration?
    /// The redirects that the request accepts as answers; such a request must not get the answer that another was
    /// redirected to.
    private let redirects: [Int]
    /// The statuses that a cache further out takes for answers, and whether it leaves all failures to the retrier.
    private let accepted: HttpStatusCodes
    private let retriesAll: Bool
    /// What is hidden in the errors of one must be hidden in those of all.
    private let secrets: [String]

    init(
        _ request: HttpRequest,
        _ target: CacheTarget,
        _ partition: CachePartition,
        _ alike: SharingKey,
        _ context: CallContext,
        ignoring ignoredNames: Set<HttpHeader.Name>
    ) {
        (self.partition, self.alike, self.target) = (partition, alike, target)
        (method, timeout) = (request.method, context.timeout)
        (accepted, retriesAll) = context.outerTerms
        secrets = request.pathSecrets
        redirects = [301, 302, 303, 307, 308].filter(context.acceptedStatusCodes.contains)
        header =
            ignoredNames.isEmpty
            ? request.header : HttpHeader(request.header.fields.filter { !ignoredNames.contains($0.name) })
    }
}
