extension HttpBodyStream {
    /// The chunks as server-sent events, as they come. An event that is not whole when the body ends is dropped.
    ///
    /// The events of this body alone. `Request.events(with:)` reconnects when it ends.
    ///
    /// - Parameter limit: The most bytes of an event, and of each of its lines. Default: 1 MiB, so that a stream that
    ///   never ends an event does not fill the memory; a larger one ends the sequence with
    ///   ``ReadError/tooLarge(limit:)``.
    public func events(limit: Int = 1_048_576) -> Events { Events(stream: self, limit: limit) }

    /// Events of a body.
    public struct Events: AsyncSequence {
        /// An event.
        public typealias Element = ServerSentEvent

        let stream: HttpBodyStream
        let limit: Int

        /// Reads the body; once, when it is one-shot.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(chunks: stream.makeAsyncIterator(), parser: EventParser(limit: limit))
        }

        /// Takes one event after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var chunks: HttpBodyStream.AsyncIterator?
            var parser: EventParser

            /// The next event; nil after the last.
            public mutating func next() async throws -> ServerSentEvent? {
                do {
                    while chunks != nil {
                        if let event = try parser.next() { return event }
                        guard let chunk = try await chunks?.next() else { break }
                        parser.append(chunk)
                    }
                    chunks = nil
                    return nil
                } catch {
                    chunks = nil
                    throw error
                }
            }
        }
    }
}
