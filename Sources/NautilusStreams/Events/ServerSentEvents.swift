import Foundation
import Nautilus

extension Request {
    /// The server-sent events of an endpoint, over as many connections as it takes.
    ///
    /// The first connection is a call like any other. Once it is open, the sequence outlasts any outage: whenever there
    /// is no connection, the service's retrier is asked (`HttpError/isReconnect`), and `BackoffRetrier` always tries
    /// again. Without retriers, there is one connection. The sequence ends with a 204, or with the service's error; the
    /// guide `DownloadsAndEvents` has the table. The request's timeout limits each wait for something to arrive,
    /// comments included.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - lastEventId: The identifier from which to continue. Default: none, from now on.
    ///   - limit: The largest size of an event, in bytes; a larger one ends the sequence, with
    ///     `HttpBodyStream/ReadError/tooLarge(limit:)` underneath. Default: 1 MiB.
    ///   - reconnectLimit: How often and how long to reconnect. Default: none, since a feed is meant to last.
    public func events<S: HttpService>(
        with service: S,
        after lastEventId: String = "",
        limit: Int = 1_048_576,
        reconnectLimit: ReconnectLimit = .none
    ) -> ServerSentEvents<Self, S.RequestError> {
        ServerSentEvents(
            request: self,
            service: AnyHttpService(service),
            parser: EventParser(lastEventId: lastEventId, limit: limit),
            reconnectLimit: reconnectLimit
        )
    }
}

/// The events of an endpoint, which is connected to again when a connection ends.
///
/// The sequence throws `Failure`, the service's own error: `next()` is typed so everywhere, a loop only where the
/// system's sequences can be (macOS 15, iOS 18 and Linux).
public struct ServerSentEvents<R: Request, Failure: Error>: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let request: R
    let service: AnyHttpService<Failure>
    let parser: EventParser
    let reconnectLimit: ReconnectLimit

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        // All connections go to the service that the first one goes to.
        AsyncIterator(request, AnyHttpService(BoundService(service)), parser, reconnectLimit)
    }

    /// An iterator over the events, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let base: R
        private let service: AnyHttpService<Failure>
        private let coders: JsonCoders.Carried?
        private let connections: Confined<StreamConnections<R>>
        private let sessions: CallSessions
        private var parser: EventParser
        /// Nil between two connections.
        private var chunks: HttpBodyStream.AsyncIterator?
        private var isOver = false
        /// Whether an event has come over the connection.
        private var hasReceived = false
        /// The body of the latest connection, which knows the request that it answers.
        private(set) var body: HttpBodyStream?

        init(
            _ base: R,
            _ service: AnyHttpService<Failure>,
            _ parser: EventParser,
            _ reconnectLimit: ReconnectLimit
        ) {
            let configuration = service.configuration.derived(from: base)
            let connections = StreamConnections(of: base, with: configuration, reconnectLimit: reconnectLimit)
            (self.connections, sessions) = (Confined(connections), connections.sessions)
            (self.base, self.service) = (base, service)
            self.coders = configuration.coders.carried
            self.parser = parser
        }

        /// The next event; nil when there are no more, and after an error.
        ///
        /// - Throws: The service's own error, made by `HttpService/mapError(_:)`; of kind `cancelled` when the task is
        ///   cancelled.
        public mutating func next() async throws(Failure) -> ServerSentEvent? {
            do {
                while !isOver {
                    try Task.checkCancellation()
                    if let end = sessions.end { throw end }
                    if var event = try parser.next() {
                        connections.value.received()
                        hasReceived = true
                        event.coders = coders
                        return event
                    }
                    if chunks == nil { try await connect() } else { try await read() }
                }
                return nil
            } catch {
                (isOver, chunks) = (true, nil)
                // An event that is too long is a failure of the request that the body answers.
                let failure = error is HttpBodyStream.ReadError ? body?.failure(of: error) ?? error : error
                throw service.mapError(HttpError(ending: Task.isCancelled ? CancellationError() : failure))
            }
        }

        private mutating func connect() async throws {
            let request = EventsRequest(base: base, lastEventId: parser.lastEventId)
            let response = try await sessions.wait { [connections] in
                try await connections.value.open(request)
            }
            guard let body = response.body else {
                isOver = true
                return
            }
            self.body = body
            hasReceived = false
            chunks = body.makeAsyncIterator()
        }

        private mutating func read() async throws {
            var failure: HttpError?
            do {
                if let chunk = try await chunks?.next() {
                    sessions.look()
                    return parser.append(chunk)
                }
            } catch let error as HttpError {
                // It is not the connection that has ended, but the session.
                guard !(error.underlying is RefreshError) else { throw error }
                failure = error
                // What could be decompressed so far is cut where the server ended, and not damaged.
                if hasReceived, error.kind == .transport(.cannotDecodeContentData) {
                    failure?.kind = .transport(.networkConnectionLost)
                }
            }
            chunks = nil
            parser.restart()
            // For a method that is not safe, asking again would repeat its effect.
            guard failure != nil || base.method.isSafe else {
                isOver = true
                return
            }
            let loss = failure ?? HttpError(.transport(.networkConnectionLost), stage: .send)
            try await sessions.wait { [connections, delay = parser.reconnectionDelay ?? .zero] in
                try await connections.value.waitForNext(after: loss, notBefore: delay)
            }
        }
    }
}

extension ServerSentEvents.AsyncIterator: Redacted {
    /// The type alone: an event's id may be a secret.
    public var description: String { "ServerSentEvents.AsyncIterator" }
}

/// One connection to a stream of events. The result is nil when the server says that there are no more events.
struct EventsRequest<Base: Request>: ForwardingRequest {
    typealias Result = HttpBodyStream?

    let base: Base
    let lastEventId: String

    var forwarded: any Request { base }
    var streamsResponse: Bool { true }
    var header: HttpHeader {
        var header = base.header
        if header[.accept] == nil { header[.accept] = HttpMimeType.eventStream.description }
        // A cache on the way has to ask the server (WHATWG HTML §9.2.2; RFC 9111 §5.2.1.4); `no-store` only forbids it to
        // keep the answer, and does not forbid it to give one that it has.
        if header["Cache-Control"] == nil { header["Cache-Control"] = "no-cache" }
        if !lastEventId.isEmpty { header[.lastEventId] = lastEventId }
        return header
    }
    /// The two successes that have a meaning for event streams (WHATWG HTML §9.2.3).
    var acceptedStatusCodes: HttpStatusCodes { [200, 204] }

    func decode(_ data: Data) throws -> HttpBodyStream? { HttpBodyStream(data) }

    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpBodyStream? {
        guard response.status != 204 else { return nil }
        let type = response.header.mediaType?.essence
        guard type == HttpMimeType.eventStream.essence else { throw ServerSentEvent.NoStream(contentType: type) }
        return response.body
    }
}

extension ServerSentEvent {
    /// The error that the server has answered with something other than events.
    public struct NoStream: Error, Hashable, Sendable, CustomStringConvertible {
        /// The answer's media type; nil when there is none, or no valid one.
        public let contentType: String?

        /// A description of the failure.
        public var description: String {
            "The answer is \(contentType ?? "of no media type"), and not text/event-stream; check the URL."
        }
    }
}
