/// What those who have waited for another's exchange are told.
enum CoalescingVerdict<Outcome: Sendable>: Sendable {
    /// This is the outcome for all.
    case share(Outcome)
    /// Make the exchange, in the place of a leader whose outcome is its own: it was cancelled, above all.
    case lead(Int)
    /// Go on alone: the outcome turned out to be one user's.
    case goAlone
}

/// What coalescing guards by its lock: the exchanges under way, and who waits for each. Pure transitions, without lock
/// or task.
struct CoalescingCore<Key: Hashable & Sendable, Outcome: Sendable, Waiter: Sendable>: Sendable {
    /// What a request is to do.
    enum Role: Sendable {
        /// Make the exchange, for all who come meanwhile.
        case lead(Int)
        /// Wait for the one that is under way.
        case follow
    }

    typealias Verdict = CoalescingVerdict<Outcome>

    private struct Flight: Sendable {
        var leader: Int
        var followers: [(ticket: Int, waiter: Waiter)] = []
    }

    private var flights: [Key: Flight] = [:]
    private var lastTicket = 0
    /// How many requests have ended that may have changed something.
    private(set) var changes: Int64 = 0

    /// How many exchanges are under way, and how many wait for one.
    var counts: (flights: Int, followers: Int) {
        (flights.count, flights.values.reduce(0) { $0 + $1.followers.count })
    }

    /// Something may have changed: who comes from now on is not answered by an exchange from before, whose key differs.
    mutating func noteChange() {
        changes += 1
    }

    /// A ticket under which to lead, or to wait and to leave again.
    mutating func takeTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// Leads, unless another does already.
    mutating func begin(_ key: Key) -> Role {
        guard flights[key] == nil else { return .follow }
        let ticket = takeTicket()
        flights[key] = Flight(leader: ticket)
        return .lead(ticket)
    }

    /// Waits for the exchange under way; leads when it has ended since the first look.
    mutating func join(_ key: Key, _ waiter: Waiter, ticket: Int) -> Role {
        guard flights[key] != nil else {
            flights[key] = Flight(leader: ticket)
            return .lead(ticket)
        }
        flights[key]?.followers.append((ticket, waiter))
        return .follow
    }

    /// Waits no longer; nil when it does not wait, because it has been told its verdict.
    mutating func cancel(_ key: Key, ticket: Int) -> Waiter? {
        guard let place = flights[key]?.followers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return flights[key]?.followers.remove(at: place).waiter
    }

    /// The leader's exchange has ended.
    ///
    /// - Parameters:
    ///   - key: What was exchanged.
    ///   - leader: Who led; nothing happens when it does not lead any longer.
    ///   - outcome: What is for all; nil for what is the leader's alone, and then the one who has waited for longest
    ///     leads.
    /// - Returns: Who is to be told what, in the order in which they came.
    mutating func end(_ key: Key, leader: Int, sharing outcome: Outcome?) -> [(Waiter, Verdict)] {
        guard var flight = flights[key], flight.leader == leader else { return [] }
        if let outcome {
            flights[key] = nil
            return flight.followers.map { ($0.waiter, .share(outcome)) }
        }
        guard !flight.followers.isEmpty else {
            flights[key] = nil
            return []
        }
        let next = flight.followers.removeFirst()
        flight.leader = next.ticket
        flights[key] = flight
        return [(next.waiter, .lead(next.ticket))]
    }

    /// The leader's exchange turns out to be of no use to others; it goes on, and they go alone.
    mutating func disband(_ key: Key, leader: Int) -> [(Waiter, Verdict)] {
        guard let flight = flights[key], flight.leader == leader else { return [] }
        flights[key] = nil
        return flight.followers.map { ($0.waiter, .goAlone) }
    }
}
