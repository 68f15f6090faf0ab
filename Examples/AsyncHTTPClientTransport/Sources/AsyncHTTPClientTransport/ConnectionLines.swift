import NIOConcurrencyHelpers
import Nautilus

/// Who has a connection, and who waits for one, origin by origin.
///
/// The client would keep a line itself, but tells nobody when the wait is over: a timeout would count it.
final class ConnectionLines: Sendable {
    private struct Line {
        var connected = 0
        var waiting: [ClientExchange] = []
    }

    private let limit: Int
    /// Guards the lines of all origins.
    private let lines = NIOLockedValueBox<[HttpOrigin: Line]>([:])

    /// - Parameter limit: The most exchanges of one origin; at least 1.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a place; false when there is none, and `exchange` stands in line.
    func enter(_ origin: HttpOrigin, _ exchange: ClientExchange) -> Bool {
        lines.withLockedValue { lines in
            if lines[origin, default: Line()].connected < limit {
                lines[origin, default: Line()].connected += 1
                return true
            }
            lines[origin, default: Line()].waiting.append(exchange)
            return false
        }
    }

    /// Gives a place back, to the first who still waits for one.
    func leave(_ origin: HttpOrigin) {
        while let next = next(origin) {
            if next.connectionIsFree() { return }
        }
    }

    /// Takes an exchange that was cancelled out of its line.
    func forget(_ origin: HttpOrigin, _ exchange: ClientExchange) {
        lines.withLockedValue { $0[origin]?.waiting.removeAll { $0 === exchange } }
    }

    private func next(_ origin: HttpOrigin) -> ClientExchange? {
        lines.withLockedValue { lines in
            if lines[origin]?.waiting.isEmpty == false { return lines[origin]?.waiting.removeFirst() }
            lines[origin]?.connected -= 1
            if lines[origin]?.connected == 0 { lines[origin] = nil }
            return nil
        }
    }
}
