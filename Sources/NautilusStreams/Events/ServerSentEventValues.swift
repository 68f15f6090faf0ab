import Nautilus

extension ServerSentEvents {
    /// The data of the events, each decoded as JSON by the service's coders.
    ///
    /// ```swift
    /// for try await note in WatchNotes().events(with: service).values(of: Note.self, from: "note") { show(note) }
    /// ```
    /// The connections are those of the events; events of other types are skipped. Data that does not decode is thrown
    /// as the service's own error, of kind `decoding`, with the request of the connection. Only after such an error can the next value still be read.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - eventType: The type of the events to decode. Default: nil, all events, for a server that sends only one
    ///     type.
    public func values<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        from eventType: String? = nil
    ) -> ServerSentEventValues<Value, Failure> {
        values { event in eventType == nil || event.type == eventType ? try event.decode(as: Value.self) : nil }
    }

    /// The values that a closure makes of the events, for a feed with several types of events.
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
    /// - Parameter decode: Makes the value of an event; nil skips the event. An error that it throws becomes the
    ///   service's own error, of kind `decoding`. Only after such an error can the next value still be read.
    public func values<Value: Sendable>(
        _ decode: @escaping @Sendable (_ event: ServerSentEvent) throws -> Value?
    ) -> ServerSentEventValues<Value, Failure> {
        ServerSentEventValues(events: self, decode: decode)
    }
}

/// The values made of an endpoint's events.
///
/// The sequence throws `Failure`, the service's own error: `next()` is typed so everywhere, a loop only where the
/// system's sequences can be (macOS 15, iOS 18 and Linux). Its type does not name the request, so that an API module
/// need not publish it.
public struct ServerSentEventValues<Value: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value

    private let makeReader: @Sendable () -> any ValueReader<Value, Failure>

    init<R: Request>(
        events: ServerSentEvents<R, Failure>,
        decode: @escaping @Sendable (ServerSentEvent) throws -> Value?
    ) {
        makeReader = { EventValues(events: events.makeAsyncIterator(), decode: decode, service: events.service) }
    }

    /// Connects when the first value is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: makeReader()) }

    /// An iterator over the values, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var reader: any ValueReader<Value, Failure>

        /// The next value; nil when there are no more, and after an error that has ended the events.
        ///
        /// - Throws: The service's own error, made by `HttpService/mapError(_:)`: either the error of the events, or
        ///   one of kind `decoding` for data that is not a value.
        public mutating func next() async throws(Failure) -> Value? { try await reader.next() }
    }
}

/// A reader of the values of some request's events.
private protocol ValueReader<Value, Failure> {
    associatedtype Value: Sendable
    associatedtype Failure: Error
    mutating func next() async throws(Failure) -> Value?
}

private struct EventValues<R: Request, Value: Sendable, Failure: Error>: ValueReader {
    var events: ServerSentEvents<R, Failure>.AsyncIterator
    let decode: @Sendable (ServerSentEvent) throws -> Value?
    let service: AnyHttpService<Failure>

    mutating func next() async throws(Failure) -> Value? {
        while let event = try await events.next() {
            do {
                if let value = try decode(event) { return value }
            } catch {
                var failure =
                    events.body?.failure(of: error) as? HttpError
                    ?? HttpError(.decoding, stage: .decode, underlying: error)
                failure.call = CallIdentity(id: 0, requestType: R.self)
                throw service.mapError(failure)
            }
        }
        return nil
    }
}
