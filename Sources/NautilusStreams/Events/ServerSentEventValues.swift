import Nautilus

extension ServerSentEvents {
    /// The data of the events, each decoded as JSON by the service's coders.
    ///
    /// ```swift
    /// for try await note in WatchNotes().events(with: service).values(of: Note.self, from: "note") { show(note) }
    /// ```
    /// The connections are those of the events, whose other types are skipped. Data that does not decode is thrown as the
    /// service's own error, of kind `decoding`; after that, and only after that, the next value can be read.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - eventType: The type of the events that have one. Default: nil, all events, for a server that sends but one.
    public func values<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        from eventType: String? = nil
    ) -> Values<Value> {
        values { event in eventType == nil || event.type == eventType ? try event.decode(as: Value.self) : nil }
    }

    /// What the events mean, for a feed with several types of them.
    ///
    /// ```swift
    /// let changes = WatchNotes().events(with: service).values { event -> Change? in
    ///     switch event.type {
    ///     case "created": .created(try event.decode(as: Note.self))
    ///     case "deleted": .deleted(try event.decode(as: Int.self))
    ///     default: nil
    ///     }
    /// }
    /// ```
    /// - Parameter decode: Makes the value of an event; nil skips it. What it throws is thrown as the service's own error, of
    ///   kind `decoding`; after that, and only after that, the next value can be read.
    public func values<Value: Sendable>(
        _ decode: @escaping @Sendable (_ event: ServerSentEvent) throws -> Value?
    ) -> Values<Value> {
        Values(events: self, decode: decode)
    }

    /// Values that the events of an endpoint bring.
    ///
    /// It throws `Failure`, the service's own error: `next()` says so everywhere, a loop where the system's sequences can
    /// (macOS 15, iOS 18 and Linux).
    public struct Values<Value: Sendable>: AsyncSequence, Sendable {
        /// A value.
        public typealias Element = Value

        let events: ServerSentEvents
        let decode: @Sendable (ServerSentEvent) throws -> Value?

        /// Connects when the first value is asked for.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(events: events.makeAsyncIterator(), decode: decode, service: events.service)
        }

        /// Takes one value after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var events: ServerSentEvents.AsyncIterator
            let decode: @Sendable (ServerSentEvent) throws -> Value?
            let service: AnyHttpService<Failure>

            /// The next value; nil when there are no more, and after an error that ended the events.
            ///
            /// - Throws: The service's own error, made by `HttpService/mapError(_:)`: the events' own, or of kind
            ///   `decoding` for data that is no value.
            public mutating func next() async throws(Failure) -> Value? {
                while let event = try await events.next() {
                    do {
                        if let value = try decode(event) { return value }
                    } catch {
                        var failure = HttpError(.decoding, stage: .decode, underlying: error)
                        failure.call = CallIdentity(id: 0, requestType: R.self)
                        throw service.mapped(failure)
                    }
                }
                return nil
            }
        }
    }
}
