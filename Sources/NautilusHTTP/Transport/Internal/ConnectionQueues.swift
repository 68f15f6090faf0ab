/// The exchanges that have a connection, and those that wait for one, by origin.
///
/// A host that hangs must not hold up requests to other hosts, as it does in Foundation on Linux, which has one queue
/// for all hosts and looks only at its head. Within a queue the more urgent go first, and those of equal urgency in the
/// order of their arrival. If the connections of all origins together are limited, the same order applies among the
/// first of each queue.
///
/// - `Origin`: A host, or a part of its traffic, with a queue of its own.
package struct ConnectionQueues<Origin: Hashable & Sendable, Waiter: Identifiable & Sendable>: Sendable
where Waiter.ID: Sendable {
    fileprivate struct Place: Identifiable, Sendable {
        let waiter: Waiter
        let priority: HttpRequest.Priority
        /// The waiter's place in the order of all arrivals.
        let number: Int

        var id: Waiter.ID { waiter.id }
    }

    fileprivate struct Queue {
        var connected = 0
        var waiting = WaitQueue<Place>()

        var isIdle: Bool { connected == 0 && waiting.count == 0 }
    }

    private let limit: Int
    private let total: Int
    private var queues: [Origin: Queue] = [:]
    private var connected = 0
    private var arrivals = 0
    /// The origin whose queue became idle last; nil for none.
    private var idle: Origin?

    /// How many origins have a connection, or wait for one.
    var originCount: Int { queues.count - (idle.flatMap { queues[$0] }?.isIdle == true ? 1 : 0) }

    /// - Parameters:
    ///   - limit: The most connections of one origin; at least 1.
    ///   - total: The most connections of all origins together; at least 1. Default: as many as their own limits allow.
    package init(limit: Int, total: Int = .max) {
        self.limit = max(1, limit)
        self.total = max(1, total)
    }

    /// Takes a connection; returns false if none is free.
    package mutating func enter(_ origin: Origin) -> Bool {
        // In place, here and below: a queue that is taken out, changed and put back would be copied, waiter by waiter.
        guard connected < total else { return false }
        guard queues[origin, default: Queue()].connect(upTo: limit) else { return false }
        connected += 1
        return true
    }

    /// Takes a connection; returns false if none is free, and puts `waiter` in the queue.
    package mutating func enter(_ origin: Origin, _ waiter: Waiter, priority: HttpRequest.Priority) -> Bool {
        if enter(origin) { return true }
        queues[origin, default: Queue()].wait(Place(waiter: waiter, priority: priority, number: arrivals))
        arrivals += 1
        return false
    }

    /// Gives a connection back.
    ///
    /// - Returns: The waiter that has the connection now; nil if no waiter can have it.
    package mutating func leave(_ origin: Origin) -> Waiter? {
        // Unless all connections were taken, every waiter waits for a connection of its own origin.
        let wasFull = connected == total
        connected -= 1
        guard let index = queues.index(forKey: origin) else { return nil }
        queues.values[index].connected -= 1
        defer { forgetIfIdle(origin, index) }
        guard let next = wasFull ? mostUrgent : index else { return nil }
        guard let waiter = queues.values[next].connectFirst() else { return nil }
        connected += 1
        return waiter
    }

    /// Removes a waiter that gives up before it has a connection from its queue.
    package mutating func forget(_ origin: Origin, _ id: Waiter.ID) {
        guard let index = queues.index(forKey: origin) else { return }
        _ = queues.values[index].waiting.remove(id)
        forgetIfIdle(origin, index)
    }

    private mutating func forgetIfIdle(_ origin: Origin, _ index: Dictionary<Origin, Queue>.Index) {
        guard queues.values[index].isIdle else { return }
        guard let before = idle else { return idle = origin }
        // The queue that became idle last is kept, since mostly it is the next one to be used.
        guard before != origin else { return }
        if queues[before]?.isIdle == true { queues[before] = nil }
        idle = origin
    }

    /// The queue with the most urgent first waiter, among the queues that may have one more connection.
    private var mostUrgent: Dictionary<Origin, Queue>.Index? {
        var best: (index: Dictionary<Origin, Queue>.Index, place: Place)?
        for index in queues.indices where queues.values[index].hasRoom(upTo: limit) {
            guard let place = queues.values[index].waiting.first else { continue }
            if let best, !place.goesBefore(best.place) { continue }
            best = (index, place)
        }
        return best?.index
    }
}

extension ConnectionQueues.Queue {
    fileprivate func hasRoom(upTo limit: Int) -> Bool { connected < limit }

    fileprivate mutating func connect(upTo limit: Int) -> Bool {
        guard hasRoom(upTo: limit) else { return false }
        connected += 1
        return true
    }

    fileprivate mutating func wait(_ place: ConnectionQueues.Place) {
        waiting.append(place, urgency: place.priority.rawValue)
    }

    fileprivate mutating func connectFirst() -> Waiter? {
        guard let next = waiting.popFirst() else { return nil }
        connected += 1
        return next.waiter
    }
}

extension ConnectionQueues.Place {
    fileprivate func goesBefore(_ other: Self) -> Bool {
        priority == other.priority ? number < other.number : priority > other.priority
    }
}
