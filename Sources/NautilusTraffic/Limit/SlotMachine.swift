import Nautilus

/// The slots of one origin, and the requests that wait for one: pure transitions, without lock or task.
///
/// A request that leaves hands its slot to the first in line, so that no newcomer can take it in between.
struct SlotMachine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    /// The answer to a request that wants to go.
    enum Answer: Hashable, Sendable {
        case go
        case wait
        case refuse(TrafficRefusal)
    }

    private let limit: Int
    private let maxWaiting: Int
    private var line = WaitingLine<Waiter>()

    /// How many hold a slot.
    private(set) var taken = 0

    init(limit: Int, maxWaiting: Int) {
        self.limit = limit
        self.maxWaiting = maxWaiting
    }

    /// How many wait for one.
    var waiting: Int { line.count }

    /// The value of keeping it.
    var worth: OriginWorth { taken == 0 && waiting == 0 ? .nothing : .indispensable }

    /// Takes a slot if there is one.
    mutating func enter() -> Answer {
        if taken < limit {
            taken += 1
            return .go
        }
        return waiting < maxWaiting ? .wait : .refuse(.tooManyWaiting(limit: maxWaiting))
    }

    /// Waits for a slot.
    mutating func wait(_ waiter: Waiter, priority: RequestPriority) {
        line.append(waiter, urgency: priority.rawValue)
    }

    /// Gives a slot back.
    ///
    /// - Returns: Its new holder; nil when none waits for one.
    mutating func leave() -> Waiter? {
        if let next = line.popFirst() { return next }
        taken -= 1
        return nil
    }

    /// Waits no longer; nil when it does not wait, because it has a slot.
    mutating func cancel(_ id: Waiter.ID) -> Waiter? {
        line.remove(id)
    }
}
