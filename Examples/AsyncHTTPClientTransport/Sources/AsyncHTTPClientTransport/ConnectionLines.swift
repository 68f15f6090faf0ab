import NIOConcurrencyHelpers
import NIOCore
import NautilusHTTP

/// The requests that have a connection, and those that wait for one, origin by origin.
///
/// The client would keep a line itself, but does not tell when the wait is over: a timeout would count it.
final class ConnectionLines: Sendable {
    private struct Line {
        var connected = 0
        var waiting = CircularBuffer<Departure>()
    }

    private let limit: Int
    /// Guards the lines of all origins.
    private let lines = NIOLockedValueBox<[HttpOrigin: Line]>([:])

    /// - Parameter limit: The most exchanges of one origin; at least 1.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a connection; false when there is none, and `departure` stands in line until its turn has come.
    func enter(_ departure: Departure) -> Bool {
        lines.withLockedValue { lines in
            enter(departure, &lines[departure.origin, default: Line()])
        }
    }

    /// Gives a connection back, to the first request that still waits for one.
    func leave(_ origin: HttpOrigin) {
        while let next = next(origin) {
            next.context.endWaitingForConnection()
            if next.exchange.depart() { return }
        }
    }

    /// Takes an exchange that was cancelled out of its line, if it stands in it.
    func forget(_ departure: Departure) {
        lines.withLockedValue { $0[departure.origin]?.waiting.removeAll { $0 === departure } }
    }

    private func enter(_ departure: Departure, _ line: inout Line) -> Bool {
        guard line.connected >= limit else {
            line.connected += 1
            return true
        }
        // Here, since its turn may come as soon as the lock is released.
        departure.context.beginWaitingForConnection()
        line.waiting.append(departure)
        return false
    }

    private func next(_ origin: HttpOrigin) -> Departure? {
        lines.withLockedValue { lines in
            guard let index = lines.index(forKey: origin) else { return nil }
            if let next = lines.values[index].waiting.popFirst() { return next }
            lines.values[index].connected -= 1
            if lines.values[index].connected == 0 { lines.remove(at: index) }
            return nil
        }
    }
}
