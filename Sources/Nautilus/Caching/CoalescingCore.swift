/// What those that have waited for another's exchange are told.
enum CoalescingVerdict<Outcome: Sendable>: Sendable {
    /// This is the outcome for all.
    case share(Outcome)
    /// Make the exchange, in the place of a leader whose outcome is its own: it was cancelled, above all.
    case lead(Int)
    /// Go on alone: the outcome turned out to be one call's.
    case goAlone
}

/// What coalescing guards by its lock: the exchanges under way, and what waits for each. Pure transitions, without lock
/// or task.
struct CoalescingCore<Key: Hashable & Sendable, Outcome: Sendable, Waiter: Identifiable & Sendable>: Sendable
where Waiter.ID: Sendable {
    typealias Verdict = CoalescingVerdict<Outcome>

    /// What is asked for, how urgently, and by which call.
    struct Visit: Sendable {
        let key: Key
        var urgency = 0
        var call = CallIdentity.none
    }

    /// What a request is to do.
    enum Role: Hashable, Sendable {
        /// Make the exchange, for all that come meanwhile.
        case lead(Int)
        /// Wait for the one that is under way.
        case follow
        /// Neither.
        case goAlone
    }

    private struct Leader: Sendable {
        let number: Int
        let urgency: Int
        let call: UInt64
    }

    private struct Follower: Identifiable, Sendable {
        let waiter: Waiter
        let urgency: Int
        let call: UInt64
        var id: Waiter.ID { waiter.id }
    }

    private struct Flight: Sendable {
        /// Those that make the exchange: one, and any that was more urgent than those before it.
        var leaders: [Leader] = []
        /// The one whose credential was refused, until its call comes again or ends; nil for none.
        var absent: Leader?
        var followers = WaitingLine<Follower>()

        /// How urgent the most urgent of those is that the followers wait for; nil when there is none.
        var urgency: Int? { (leaders.map(\.urgency) + [absent].compactMap { $0?.urgency }).max() }
    }

    private var flights: [Key: Flight] = [:]
    private var lastNumber = 0
    /// How often each call leads, or is waited for in its absence.
    private var waitedFor: [UInt64: Int] = [:]
    /// How many requests have ended that may have changed something.
    private(set) var changes: Int64 = 0

    /// How many exchanges are under way, and how many wait for one.
    var counts: (flights: Int, followers: Int) {
        (flights.count, flights.values.reduce(0) { $0 + $1.followers.count })
    }

    /// Something may have changed: what comes from now on is not answered by an exchange from before, whose key differs.
    mutating func noteChange() {
        changes += 1
    }

    /// Leads, unless another does that is as urgent: behind a less urgent one it would stand in every line further in.
    mutating func begin(_ visit: Visit) -> Role {
        // A call around it leads, and waits for it: the one that it waited for might be waiting for that call.
        if visit.call.ancestors.contains(where: { waitedFor[$0] != nil }) { return .goAlone }
        if let absent = flights[visit.key]?.absent, absent.call == visit.call.id { removeAbsent(visit.key) }
        if let urgency = flights[visit.key]?.urgency, urgency >= visit.urgency { return .follow }
        return .lead(addLeader(visit.key, urgency: visit.urgency, call: visit.call.id))
    }

    /// Waits for the exchange under way, unless that has ended since the first look.
    mutating func join(_ visit: Visit, _ waiter: Waiter) -> Role {
        let role = begin(visit)
        if role == .follow {
            let follower = Follower(waiter: waiter, urgency: visit.urgency, call: visit.call.id)
            flights[visit.key]?.followers.append(follower, urgency: visit.urgency)
        }
        return role
    }

    /// Waits no longer; nil when it does not wait, because it has been told its verdict.
    mutating func leave(_ key: Key, _ id: Waiter.ID) -> Waiter? {
        defer { removeIfIdle(key) }
        return flights[key]?.followers.remove(id)?.waiter
    }

    /// The exchange of a leader has ended, with what is for all.
    ///
    /// - Returns: What each is to be told, the most urgent first; nothing when the leader does not lead any longer.
    mutating func end(_ key: Key, leader number: Int, sharing outcome: Outcome) -> [(Waiter, Verdict)] {
        guard removeLeader(key, number) != nil else { return [] }
        return removeFollowers(key).map { ($0, .share(outcome)) }
    }

    /// A leader has left: the most urgent of those that wait leads in its place, and of these the one that has waited for
    /// longest; none where others lead that are as urgent.
    mutating func leave(_ key: Key, leader number: Int) -> [(Waiter, Verdict)] {
        guard let leader = removeLeader(key, number) else { return [] }
        defer { removeIfIdle(key) }
        if let urgency = flights[key]?.urgency, urgency >= leader.urgency { return [] }
        guard let next = flights[key]?.followers.popFirst() else { return [] }
        return [(next.waiter, .lead(addLeader(key, urgency: next.urgency, call: next.call)))]
    }

    /// The credential of a leader was refused: those that wait go on waiting until its call comes again, or ends.
    mutating func leaveForReturn(_ key: Key, leader number: Int) {
        guard let leader = removeLeader(key, number) else { return }
        if flights[key]?.leaders.isEmpty == true {
            flights[key]?.absent = leader
            waitedFor[leader.call, default: 0] += 1
        }
        removeIfIdle(key)
    }

    /// A call has ended, in whose absence others may have waited: they go alone, unless another leads.
    mutating func endCall(_ key: Key, _ call: UInt64) -> [(Waiter, Verdict)] {
        guard let flight = flights[key], flight.absent?.call == call else { return [] }
        removeAbsent(key)
        return flight.leaders.isEmpty ? removeFollowers(key).map { ($0, .goAlone) } : []
    }

    /// The exchange of a leader turns out to be of no use to others; it goes on, and they go alone.
    mutating func disband(_ key: Key, leader number: Int) -> [(Waiter, Verdict)] {
        guard removeLeader(key, number) != nil else { return [] }
        return removeFollowers(key).map { ($0, .goAlone) }
    }
}

// MARK: - Flights

extension CoalescingCore {
    private mutating func addLeader(_ key: Key, urgency: Int, call: UInt64) -> Int {
        lastNumber += 1
        flights[key, default: Flight()].leaders.append(Leader(number: lastNumber, urgency: urgency, call: call))
        waitedFor[call, default: 0] += 1
        return lastNumber
    }

    private mutating func removeLeader(_ key: Key, _ number: Int) -> Leader? {
        guard let place = flights[key]?.leaders.firstIndex(where: { $0.number == number }),
            let leader = flights[key]?.leaders.remove(at: place)
        else { return nil }
        release(leader)
        return leader
    }

    private mutating func removeAbsent(_ key: Key) {
        if let absent = flights[key]?.absent.take() { release(absent) }
    }

    private mutating func removeFollowers(_ key: Key) -> [Waiter] {
        defer { removeIfIdle(key) }
        return flights[key]?.followers.removeAll().map(\.waiter) ?? []
    }

    private mutating func release(_ leader: Leader) {
        let count = waitedFor[leader.call] ?? 0
        waitedFor[leader.call] = count > 1 ? count - 1 : nil
    }

    private mutating func removeIfIdle(_ key: Key) {
        guard let flight = flights[key], flight.leaders.isEmpty, flight.followers.count == 0 else { return }
        removeAbsent(key)
        flights[key] = nil
    }
}
