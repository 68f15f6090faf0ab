import Foundation
import Nautilus

extension Request {
    /// The server-sent events of an endpoint, over as many connections as it takes.
    ///
    /// ```swift
    /// for try await event in Feed().events(with: service) { print(event.type, event.data) }
    /// ```
    /// Each connection is a call, with a retrier of its own that answers for its failures, refreshes included. When a
    /// connection ends or breaks, the service's retrier is asked about that, too, as about a lost connection: the next
    /// one is made after its delay, or the server's `retry:`, whichever is longer, with `Last-Event-ID`.
    ///
    /// A connection that has served, over which an event has come or which has lasted for ten seconds, is followed by
    /// the next for nothing: a new retrier is asked, and its budget does not pay (`HttpError/hadServed`). Others are
    /// counted by one retrier, and paid for. Whatever comes over them, connections follow one another a second apart in
    /// the long run, after five at once: a server that takes each only to end it is not asked faster.
    ///
    /// The sequence ends when the server answers 204 (WHATWG HTML §9.2.3). When the retrier does not want another
    /// connection, it ends with the service's own error, whose trace tells why, also when the last connection ended in
    /// order: there may be more events that never come. A service without retriers reads one connection;
    /// `HttpBodyStream/events(limit:)` reads one, too, and takes its end for the end. So does this where the
    /// request's method is not safe, as of a POST that is answered by events: to ask again would be to do it again.
    /// When the task is cancelled, it ends with `CancellationError`. When the session in which it began is over, it
    /// ends at once with the service's error, `RefreshError/superseded` underneath, or
    /// `RefreshError/sessionExpired(underlying:)` when the server has ended it, whatever the server has sent or would
    /// still send, and also while it waits for its next connection. The first connection is waited for as any call is, and
    /// brings no event then. A session that has been ended in another process is over as soon as this one knows: each
    /// call looks, each connection does, and so does what comes over it, once a second.
    ///
    /// An identifier of more than 8 KiB is not kept, since it would be sent with each connection, and few servers take
    /// a header field of that length: the one before it stays.
    ///
    /// The request's timeout bounds each wait for something to come, comments included; nil for servers that are silent
    /// for longer.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - lastEventId: The identifier to continue from. Default: none, from now on.
    ///   - limit: The most bytes of an event. Default: 1 MiB; a larger one ends the sequence, with
    ///     `HttpBodyStream/ReadError/tooLarge(limit:)` underneath.
    public func events<S: HttpService>(
        with service: S,
        after lastEventId: String = "",
        limit: Int = 1_048_576
    ) -> ServerSentEvents<Self, S.RequestError> {
        ServerSentEvents(
            request: self,
            service: AnyHttpService(service),
            parser: EventParser(lastEventId: lastEventId, limit: limit)
        )
    }
}

/// Events of an endpoint, which is connected to again when a connection ends.
///
/// It throws `Failure`, the service's own error: `next()` says so everywhere, a loop where the system's sequences can
/// (macOS 15, iOS 18 and Linux).
public struct ServerSentEvents<R: Request, Failure: Error>: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let request: R
    let service: AnyHttpService<Failure>
    let parser: EventParser

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        // All connections go to where the first one does.
        AsyncIterator(service: DerivedService(service: service.final, base: request), parser: parser)
    }

    /// Takes one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let service: DerivedService<AnyHttpService<Failure>, R>
        private let coders: JsonCoders.Carried?
        private let connections: Confined<StreamConnections<R, DerivedService<AnyHttpService<Failure>, R>>>
        private let calls: CallSequence
        private var parser: EventParser
        /// Nil between two connections.
        private var chunks: EventChunks?
        private var isOver = false

        init(service: DerivedService<AnyHttpService<Failure>, R>, parser: EventParser) {
            let connections = StreamConnections(of: service.base, with: service)
            (self.connections, calls) = (Confined(connections), connections.calls)
            self.service = service
            self.coders = service.coders.carried
            self.parser = parser
        }

        /// The next event; nil when there are no more, and after an error.
        ///
        /// - Throws: The service's own error, made by `HttpService/mapError(_:)`; of kind `cancelled` when the task is.
        public mutating func next() async throws(Failure) -> ServerSentEvent? {
            do {
                while !isOver {
                    if let end = calls.endOfSession { throw end }
                    if var event = try parser.next() {
                        connections.value.received()
                        event.coders = coders
                        return event
                    }
                    if chunks == nil { try await connect() } else { try await read() }
                }
                return nil
            } catch {
                (isOver, chunks) = (true, nil)
                throw service.mapped(HttpError(ending: Task.isCancelled ? CancellationError() : error))
            }
        }

        private mutating func connect() async throws {
            let request = EventsRequest(base: service.base, lastEventId: parser.lastEventId)
            let response = try await calls.untilEndOfSession { [connections] in
                try await connections.value.open(request)
            }
            guard let body = response.body else {
                isOver = true
                return
            }
            chunks = EventChunks(body, calls)
        }

        private mutating func read() async throws {
            var failure: HttpError?
            do {
                if let chunk = try await chunks?.next() {
                    calls.lookForChanges()
                    return parser.append(chunk)
                }
            } catch let error as HttpError {
                // Not the connection's end, but the session's.
                guard !(error.underlying is RefreshError) else { throw error }
                failure = error
            }
            chunks = nil
            parser.restart()
            // To ask again would be to do it again.
            guard failure != nil || service.base.method.isSafe else {
                isOver = true
                return
            }
            let loss = failure ?? HttpError(.transport(.networkConnectionLost), stage: .send)
            try await calls.untilEndOfSession { [connections, delay = parser.reconnectionDelay ?? .zero] in
                try await connections.value.waitForNext(after: loss, notBefore: delay)
            }
        }
    }
}

/// The chunks of one connection, which end with the session that it was opened in.
private struct EventChunks {
    private let chunks: Confined<HttpBodyStream.AsyncIterator>
    private let calls: CallSequence

    init(_ body: HttpBodyStream, _ calls: CallSequence) {
        chunks = Confined(body.makeAsyncIterator())
        self.calls = calls
    }

    /// The next chunk; nil after the last.
    ///
    /// - Throws: The body's error; `CallSequence/endOfSession` as soon as the session is over.
    func next() async throws -> Data? {
        try await calls.untilEndOfSession { [chunks] in try await chunks.value.next() }
    }
}

/// One connection to a stream of events. The result is nil when the server says that there are no more.
struct EventsRequest<Base: Request>: ForwardingRequest {
    typealias Result = HttpBodyStream?

    let base: Base
    let lastEventId: String

    var forwarded: any Request { base }
    var streamsResponse: Bool { true }
    var header: HttpHeader {
        var header = base.header
        if header[.accept] == nil { header[.accept] = HttpMimeType.eventStream.description }
        if header["Cache-Control"] == nil { header["Cache-Control"] = "no-store" }
        if !lastEventId.isEmpty { header[.lastEventId] = lastEventId }
        return header
    }
    /// The two successes that mean something to event streams (WHATWG HTML §9.2.3).
    var acceptedStatusCodes: HttpStatusCodes { [200, 204] }

    func decode(_ data: Data) throws -> HttpBodyStream? { HttpBodyStream(data) }

    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpBodyStream? {
        guard response.status != 204 else { return nil }
        let type = response.header[.contentType].flatMap { HttpMimeType($0)?.essence }
        guard type == HttpMimeType.eventStream.essence else { throw NoEventStream(contentType: type) }
        return response.body
    }
}

/// The server has answered with something else than events.
public struct NoEventStream: Error, Hashable, Sendable, CustomStringConvertible {
    /// The answer's media type; nil when it names none, or no valid one.
    public let contentType: String?

    /// A description of the failure.
    public var description: String {
        "The answer is no text/event-stream, but \(contentType ?? "without a media type"); check the URL."
    }
}
