/// The exchanges that have a connection, and those that wait for one, origin by origin.
///
/// A host that hangs must not hold up the requests to every other, as it does in Foundation on Linux, which has one
/// line for all hosts and looks only at its head. Within a line the more urgent go first, the others in the order in
/// which they came; where the connections of all origins together are limited, so do the first of each line.
///
/// - `Origin`: A host, or a part of its traffic: each has its own line.
struct ConnectionLines<Origin: Hashable & Sendable, Waiter: Identifiable & Sendable>: Sendable
where Waiter.ID: Sendable {
    fileprivate struct Place: Identifiable, Sendable {
        let waiter: Waiter
        let priority: RequestPriority
        /// When it came, among all.
        let number: Int

        var id: Waiter.ID { waiter.id }
    }

    fileprivate struct Line {
        var connected = 0
        var waiting = WaitingLine<Place>()

        var isIdle: Bool { connected == 0 && waiting.count == 0 }
    }

    private let limit: Int
    private let total: Int
    private var lines: [Origin: Line] = [:]
    private var connected = 0
    private var arrivals = 0
    /// The origin whose line was the last to be idle; nil for none.
    private var idle: Origin?

    /// How many origins have a connection, or wait for one.
    var originCount: Int { lines.count - (idle.flatMap { lines[$0] }?.isIdle == true ? 1 : 0) }

    /// - Parameters:
    ///   - limit: The most connections of one origin; at least 1.
    ///   - total: The most connections of all origins together; at least 1. Default: as many as their own limits allow.
    init(limit: Int, total: Int = .max) {
        self.limit = max(1, limit)
        self.total = max(1, total)
    }

    /// Takes a connection; false when there is none.
    mutating func enter(_ origin: Origin) -> Bool {
        // In place, here and below: a line that is taken out, changed and put back is copied, waiter by waiter.
        guard connected < total, lines[origin, default: Line()].connect(upTo: limit) else { return false }
        connected += 1
        return true
    }

    /// Takes a connection; false when there is none, and `waiter` stands in line.
    mutating func enter(_ origin: Origin, _ waiter: Waiter, priority: RequestPriority) -> Bool {
        if enter(origin) { return true }
        lines[origin, default: Line()].wait(Place(waiter: waiter, priority: priority, number: arrivals))
        arrivals += 1
        return false
    }

    /// Gives a connection back.
    ///
    /// - Returns: The waiter that has it now; nil when the line is empty.
    mutating func leave(_ origin: Origin) -> Waiter? {
        // Where there are connections left, those that wait do so for one of their own origin.
        let wasFull = connected == total
        connected -= 1
        guard let index = lines.index(forKey: origin) else { return nil }
        lines.values[index].connected -= 1
        defer { forgetIfIdle(origin, index) }
        guard let next = wasFull ? mostUrgent : index, let waiter = lines.values[next].connectFirst() else {
            return nil
        }
        connected += 1
        return waiter
    }

    /// Takes a waiter out of its line, which it has left without a connection.
    mutating func forget(_ origin: Origin, _ id: Waiter.ID) {
        guard let index = lines.index(forKey: origin) else { return }
        _ = lines.values[index].waiting.remove(id)
        forgetIfIdle(origin, index)
    }

    private mutating func forgetIfIdle(_ origin: Origin, _ index: Dictionary<Origin, Line>.Index) {
        guard lines.values[index].isIdle else { return }
        guard let before = idle else { return idle = origin }
        // The last one stays: mostly it is the next one as well.
        guard before != origin else { return }
        if lines[before]?.isIdle == true { lines[before] = nil }
        idle = origin
    }

    /// The line whose first is the most urgent of those that may have one more connection.
    private var mostUrgent: Dictionary<Origin, Line>.Index? {
        var best: (index: Dictionary<Origin, Line>.Index, place: Place)?
        for index in lines.indices where lines.values[index].connected < limit {
            guard let place = lines.values[index].waiting.first else { continue }
            if let best, !place.goesBefore(best.place) { continue }
            best = (index, place)
        }
        return best?.index
    }
}

extension ConnectionLines.Line {
    fileprivate mutating func connect(upTo limit: Int) -> Bool {
        guard connected < limit else { return false }
        connected += 1
        return true
    }

    fileprivate mutating func wait(_ place: ConnectionLines.Place) {
        waiting.append(place, urgency: place.priority.rawValue)
    }

    fileprivate mutating func connectFirst() -> Waiter? {
        guard let next = waiting.popFirst() else { return nil }
        connected += 1
        return next.waiter
    }
}

extension ConnectionLines.Place {
    fileprivate func goesBefore(_ other: Self) -> Bool {
        priority == other.priority ? number < other.number : priority > other.priority
    }
}
