/// Messages put down under a lock and delivered outside of it, in the order in which they were put down.
///
/// A thread that finds no other delivering delivers for all, so that two threads cannot overtake one another.
package struct Outbox<Message: Sendable>: Sendable {
    private var messages: [Message] = []
    private var isBeingEmptied = false

    /// Creates an empty outbox.
    package init() {}

    package mutating func add(_ message: Message) {
        messages.append(message)
    }

    /// The messages to deliver now; nil when there are none, or when another thread delivers them.
    package mutating func beginDelivery() -> [Message]? {
        guard !isBeingEmptied, !messages.isEmpty else { return nil }
        isBeingEmptied = true
        return continueDelivery()
    }

    /// The messages that have come meanwhile; nil ends the delivery.
    package mutating func continueDelivery() -> [Message]? {
        guard !messages.isEmpty else {
            isBeingEmptied = false
            return nil
        }
        defer { messages = [] }
        return messages
    }
}
