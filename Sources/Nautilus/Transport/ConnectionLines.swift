/// Who has a connection, and who waits for one, origin by origin.
///
/// Foundation on Linux keeps one line for all hosts, and looks only at its head: a host that hangs would hold up the
/// requests to every other. So no more is handed to it than it has connections for. Within a line the more urgent go
/// first, the others in the order in which they came.
struct ConnectionLines<Waiter> {
    private struct Line {
        var connected = 0
        var waiting: [(priority: RequestPriority, waiter: Waiter)] = []
    }

    private let limit: Int
    private var lines: [HttpOrigin: Line] = [:]

    /// - Parameter limit: The most connections of one origin; at least 1.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a connection; false when there is none, and `waiter` stands in line.
    mutating func enter(_ origin: HttpOrigin, _ waiter: Waiter, priority: RequestPriority) -> Bool {
        var line = lines[origin] ?? Line()
        defer { lines[origin] = line }
        guard line.connected >= limit else {
            line.connected += 1
            return true
        }
        let place = line.waiting.firstIndex { $0.priority < priority } ?? line.waiting.endIndex
        line.waiting.insert((priority: priority, waiter: waiter), at: place)
        return false
    }

    /// Gives a connection back.
    ///
    /// - Returns: Who has it now; nil when nobody waits.
    mutating func leave(_ origin: HttpOrigin) -> Waiter? {
        guard var line = lines[origin] else { return nil }
        let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst().waiter
        if next == nil { line.connected -= 1 }
        lines[origin] = line.connected > 0 ? line : nil
        return next
    }

    /// Takes a waiter out of its line, which it has left without a connection.
    mutating func forget(_ origin: HttpOrigin, where isGone: (Waiter) -> Bool) {
        lines[origin]?.waiting.removeAll { isGone($0.waiter) }
    }
}
