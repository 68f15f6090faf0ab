import NIOConcurrencyHelpers
import NIOCore
import NautilusHTTP

/// The requests that have a connection, and those that wait for one, origin by origin.
///
/// The client would keep a queue itself, but does not tell when the wait is over: a timeout would count it.
final class ConnectionQueues: Sendable {
    private struct Queue {
        var connected = 0
        var waiting = CircularBuffer<Departure>()
    }

    private let limit: Int
    /// Guards the queues of all origins.
    private let queues = NIOLockedValueBox<[HttpOrigin: Queue]>([:])

    /// - Parameter limit: The most exchanges of one origin; at least 1.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a connection; false when there is none, and `departure` stands in the queue until it gets one.
    func enter(_ departure: Departure) -> Bool {
        queues.withLockedValue { queues in
            enter(departure, &queues[departure.origin, default: Queue()])
        }
    }

    /// Gives a connection back, to the first request that still waits for one.
    func leave(_ origin: HttpOrigin) {
        while let next = next(origin) {
            next.context.endWaitingForConnection()
            if next.exchange.depart() { return }
        }
    }

    /// Takes an exchange that was cancelled out of its queue, if it stands in it.
    func forget(_ departure: Departure) {
        queues.withLockedValue { $0[departure.origin]?.waiting.removeAll { $0 === departure } }
    }

    private func enter(_ departure: Departure, _ queue: inout Queue) -> Bool {
        guard queue.connected >= limit else {
            queue.connected += 1
            return true
        }
        // Here, since its slot may be free as soon as the lock is released.
        departure.context.beginWaitingForConnection()
        queue.waiting.append(departure)
        return false
    }

    private func next(_ origin: HttpOrigin) -> Departure? {
        queues.withLockedValue { queues in
            guard let index = queues.index(forKey: origin) else { return nil }
            if let next = queues.values[index].waiting.popFirst() { return next }
            queues.values[index].connected -= 1
            if queues.values[index].connected == 0 { queues.remove(at: index) }
            return nil
        }
    }
}
