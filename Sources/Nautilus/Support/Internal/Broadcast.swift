/// One sender for any number of streams, which may begin with the element sent last.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Subscribers {
        var streams = LinkedTable<Int, AsyncStream<Element>.Continuation>()
        var lastId = 0
        var latest: Element?
    }

    /// How many elements a stream keeps for a reader that is slow or has stopped reading.
    private let bufferLimit: Int
    private let subscribers: Locked<Subscribers>

    /// - Parameters:
    ///   - bufferLimit: How many elements are kept for each stream.
    ///   - latest: The element that counts as the last one sent until there is another. Default: nil, none.
    package init(bufferLimit: Int, latest: Element? = nil) {
        self.bufferLimit = bufferLimit
        self.subscribers = Locked(Subscribers(latest: latest))
    }

    deinit {
        for continuation in subscribers.withLock({ $0.streams.values }) { continuation.finish() }
    }

    /// How many streams there are.
    var streamCount: Int { subscribers.withLock { $0.streams.count } }

    /// The element sent last; nil if none was.
    package var latest: Element? { subscribers.withLock { $0.latest } }

    /// A new stream of all elements sent from now on.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the element sent last, if there is one. Default:
    ///   false.
    package func stream(replayingLatest replaysLatest: Bool = false) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(bufferLimit))
        let id = subscribers.withLock { subscribers in
            // Under the lock, so that nothing newer comes first. This runs no foreign code, since the stream has no
            // reader yet.
            if replaysLatest, let latest = subscribers.latest { continuation.yield(latest) }
            subscribers.lastId += 1
            subscribers.streams.append(continuation, for: subscribers.lastId)
            return subscribers.lastId
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    /// Sends `element` to every stream.
    package func send(_ element: Element) {
        let streams = subscribers.withLock { subscribers in
            subscribers.latest = element
            return subscribers.streams.values
        }
        for continuation in streams { continuation.yield(element) }
    }

    private func remove(_ id: Int) {
        _ = subscribers.withLock { $0.streams.removeValue(for: id) }
    }
}

/// Messages that are added under a lock and delivered outside of it, in the order in which they were added.
///
/// Only one thread delivers at a time, and delivers the messages of all, so that no message overtakes another.
package struct Outbox<Message: Sendable>: Sendable {
    private var messages: [Message] = []
    private var isBeingEmptied = false

    /// Creates an empty outbox.
    package init() {}

    package mutating func add(_ message: Message) {
        messages.append(message)
    }

    /// Returns the messages to deliver now; nil if there are none, or if another thread is delivering.
    package mutating func beginDelivery() -> [Message]? {
        guard !isBeingEmptied, !messages.isEmpty else { return nil }
        isBeingEmptied = true
        return continueDelivery()
    }

    /// Returns the messages added meanwhile; nil ends the delivery.
    package mutating func continueDelivery() -> [Message]? {
        guard !messages.isEmpty else {
            isBeingEmptied = false
            return nil
        }
        defer { messages = [] }
        return messages
    }
}
