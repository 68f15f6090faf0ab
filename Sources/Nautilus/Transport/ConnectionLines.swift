/// Who has a connection, and who waits for one, origin by origin.
///
/// Foundation on Linux keeps one line for all hosts, and looks only at its head: a host that hangs would hold up the
/// requests to every other. So no more is handed to it than it has connections for. Within a line the more urgent go
/// first, the others in the order in which they came.
struct ConnectionLines<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    private struct Line {
        var connected = 0
        var waiting = WaitingLine<Waiter>()

        mutating func enter(_ waiter: Waiter, priority: RequestPriority, limit: Int) -> Bool {
            guard connected >= limit else {
                connected += 1
                return true
            }
            waiting.append(waiter, urgency: priority.rawValue)
            return false
        }

        mutating func leave() -> Waiter? {
            if let next = waiting.popFirst() { return next }
            connected -= 1
            return nil
        }
    }

    private let limit: Int
    private var lines: [HttpOrigin: Line] = [:]

    /// How many origins have a connection.
    var originCount: Int { lines.count }

    /// - Parameter limit: The most connections of one origin; at least 1.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a connection; false when there is none, and `waiter` stands in line.
    mutating func enter(_ origin: HttpOrigin, _ waiter: Waiter, priority: RequestPriority) -> Bool {
        // In place, here and below: a line that is taken out, changed and put back is copied, waiter by waiter.
        lines[origin, default: Line()].enter(waiter, priority: priority, limit: limit)
    }

    /// Gives a connection back.
    ///
    /// - Returns: Who has it now; nil when nobody waits.
    mutating func leave(_ origin: HttpOrigin) -> Waiter? {
        guard let next = lines[origin]?.leave() else {
            if lines[origin]?.connected == 0 { lines[origin] = nil }
            return nil
        }
        return next
    }

    /// Takes a waiter out of its line, which it has left without a connection.
    mutating func forget(_ origin: HttpOrigin, _ id: Waiter.ID) {
        _ = lines[origin]?.waiting.remove(id)
    }
}
