/// Waiters in line: the most urgent first, and in the order of their arrival among the equally urgent.
///
/// Joining, being served and leaving cost the same however many wait. That matters when all leave together: ten thousand
/// calls that are cancelled at once must not hold the lock for minutes.
package struct WaitingLine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    private struct Rank: Sendable {
        let urgency: Int
        var waiters = LinkedTable<Waiter.ID, Waiter>()
    }

    /// One for each urgency that has been met, the most urgent first: a handful, of which most lines need one.
    private var ranks: [Rank] = []

    /// How many wait.
    package private(set) var count = 0

    /// Creates an empty line.
    package init() {}

    /// Adds a waiter behind those that are as urgent.
    package mutating func append(_ waiter: Waiter, urgency: Int = 0) {
        let index = ranks.firstIndex { $0.urgency <= urgency } ?? ranks.count
        if index == ranks.count || ranks[index].urgency < urgency { ranks.insert(Rank(urgency: urgency), at: index) }
        ranks[index].waiters.append(waiter, for: waiter.id)
        count += 1
    }

    /// The first of the most urgent, which stays; nil when the line is empty.
    package var first: Waiter? { ranks.lazy.compactMap(\.waiters.first).first }

    /// Takes out the first of the most urgent; nil when the line is empty.
    package mutating func popFirst() -> Waiter? {
        guard let index = ranks.firstIndex(where: { $0.waiters.count > 0 }) else { return nil }
        count -= 1
        return ranks[index].waiters.popFirst()
    }

    /// Takes out one waiter; nil when it does not, or no longer, wait.
    package mutating func remove(_ id: Waiter.ID) -> Waiter? {
        for index in ranks.indices {
            guard let waiter = ranks[index].waiters.removeValue(for: id) else { continue }
            count -= 1
            return waiter
        }
        return nil
    }

    /// Takes out all that are concerned, in their order: for events that concern all, since it looks at each.
    package mutating func remove(where isConcerned: (Waiter) -> Bool) -> [Waiter] {
        let ids = ranks.flatMap { $0.waiters.keys { isConcerned($1) } }
        return ids.compactMap { remove($0) }
    }

    /// Takes out all, in their order.
    package mutating func removeAll() -> [Waiter] {
        defer { self = WaitingLine() }
        return ranks.flatMap(\.waiters.values)
    }
}
