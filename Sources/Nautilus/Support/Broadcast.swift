/// One sender, any number of streams.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Subscribers {
        var streams: [(id: Int, continuation: AsyncStream<Element>.Continuation)] = []
        var lastId = 0
    }

    /// How many elements a stream keeps for a reader that is slow, or has forgotten it.
    private let bufferLimit: Int
    private let subscribers = Locked(Subscribers())

    package init(bufferLimit: Int) {
        self.bufferLimit = bufferLimit
    }

    deinit {
        for (_, continuation) in subscribers.withLock({ $0.streams }) { continuation.finish() }
    }

    /// How many streams are read, or may be.
    var streamCount: Int { subscribers.withLock { $0.streams.count } }

    /// A new stream of all that is sent from now on.
    package func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(bufferLimit))
        let id = subscribers.withLock { subscribers in
            subscribers.lastId += 1
            subscribers.streams.append((subscribers.lastId, continuation))
            return subscribers.lastId
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    /// Sends `element` to every stream.
    package func send(_ element: Element) {
        for (_, continuation) in subscribers.withLock({ $0.streams }) { continuation.yield(element) }
    }

    private func remove(_ id: Int) {
        subscribers.withLock { $0.streams.removeAll { $0.id == id } }
    }
}
