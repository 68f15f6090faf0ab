/// The faults of the token endpoint, in the order in which a test asked for it.
package struct TokenFaults: Sendable {
    package enum Fault: Sendable {
        /// The connection closes before anything is done.
        case requestDropped
        /// Everything is done, and then the connection closes without an answer.
        case answerLost
        /// Nothing is done, and this is the answer.
        case answer(ApiAnswer)
    }

    private var queue: [(fault: Fault, count: Int)] = []

    package init() {}

    package mutating func add(_ fault: Fault, count: Int) {
        guard count > 0 else { return }
        queue.append((fault, count))
    }

    package mutating func removeAll() {
        queue = []
    }

    /// The fault of the next request; nil for nothing.
    package mutating func next() -> Fault? {
        guard let first = queue.first else { return nil }
        queue[0].count -= 1
        if queue[0].count == 0 { queue.removeFirst() }
        return first.fault
    }
}
