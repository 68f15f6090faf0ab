/// Those who wait: by priority, and in the order of their arrival within one.
struct WaitingLine<Waiter: Sendable>: Sendable {
    /// One who waits, under the ticket by which it leaves.
    struct Place: Sendable {
        let ticket: Int
        let waiter: Waiter
    }

    private struct Line {
        var places: [Place] = []
        /// The first who still waits.
        var head = 0

        mutating func removeFirst() -> Place {
            defer {
                head += 1
                // What has been taken is cleared away when it is more than half, which costs one move a waiter.
                if head * 2 > places.count {
                    places.removeFirst(head)
                    head = 0
                }
            }
            return places[head]
        }
    }

    /// A line for each priority, the most urgent first.
    private var lines = RequestPriority.allCases.map { _ in Line() }

    /// How many wait.
    private(set) var count = 0

    /// Adds a waiter behind those of its priority.
    mutating func append(_ waiter: Waiter, ticket: Int, priority: RequestPriority = .normal) {
        lines[RequestPriority.high.rawValue - priority.rawValue].places.append(Place(ticket: ticket, waiter: waiter))
        count += 1
    }

    /// Takes out the first of the most urgent; nil when nobody waits.
    mutating func popFirst() -> Waiter? {
        guard let index = lines.firstIndex(where: { $0.head < $0.places.count }) else { return nil }
        count -= 1
        return lines[index].removeFirst().waiter
    }

    /// Takes out one waiter; nil when it does not, or no longer, wait.
    mutating func remove(ticket: Int) -> Waiter? {
        remove { $0.ticket == ticket }.first
    }

    /// Takes out all who are concerned, in their order.
    mutating func remove(where isConcerned: (Place) -> Bool) -> [Waiter] {
        guard count > 0 else { return [] }
        var removed: [Waiter] = []
        for index in lines.indices {
            let waiting = lines[index].places[lines[index].head...]
            guard waiting.contains(where: isConcerned) else { continue }
            removed += waiting.filter(isConcerned).map(\.waiter)
            lines[index] = Line(places: waiting.filter { !isConcerned($0) })
        }
        count -= removed.count
        return removed
    }
}
