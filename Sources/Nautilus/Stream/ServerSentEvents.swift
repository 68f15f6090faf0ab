extension Request {
    /// The server-sent events of an endpoint, over as many connections as it takes.
    ///
    /// ```swift
    /// for try await event in Feed().events(with: service) { print(event.type, event.data) }
    /// ```
    /// Each connection is a call, with a retrier of its own that answers for its failures, refreshes included. When a
    /// connection ends or breaks, the service's retrier is asked about that, too, as about a lost connection: the next one
    /// is made after its delay, or the server's `retry:`, whichever is longer, with `Last-Event-ID`. That retrier counts
    /// connections without an event: it is a new one as soon as an event has come.
    ///
    /// The sequence ends when the server answers 204, when the stream has ended in order and the retrier does not want
    /// another connection (a service without retriers reads one), and with an error otherwise. It ends with the
    /// service's own error, or with `CancellationError`.
    ///
    /// The request's timeout bounds each wait for something to come, comments included; nil for servers that are silent
    /// for longer.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - lastEventId: The identifier to continue from. Default: none, from now on.
    ///   - limit: The most bytes of an event. Default: 1 MiB; a larger one ends the sequence with
    ///     ``HttpBodyStream/ReadError/tooLarge(limit:)``.
    public func events<S: HttpService>(
        with service: S,
        after lastEventId: String = "",
        limit: Int = 1_048_576
    ) -> ServerSentEvents<Self, S> {
        ServerSentEvents(
            service: DerivedService(service: service, base: self),
            parser: EventParser(lastEventId: lastEventId, limit: limit)
        )
    }
}

/// Events of an endpoint, which is connected to again when a connection ends.
public struct ServerSentEvents<R: Request, S: HttpService>: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let service: DerivedService<S, R>
    let parser: EventParser

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(service: service, parser: parser) }

    /// Takes one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let service: DerivedService<S, R>
        private var parser: EventParser
        private var chunks: HttpBodyStream.AsyncIterator?
        private var connection: RequestSummary?
        /// Asked about the connections since the last event; nil when there was none without one.
        private var retrier: (any Retrier)?
        private var isOver = false

        init(service: DerivedService<S, R>, parser: EventParser) {
            self.service = service
            self.parser = parser
        }

        /// The next event; nil when there are no more.
        public mutating func next() async throws -> ServerSentEvent? {
            do {
                while !isOver {
                    if let event = try parser.next() {
                        retrier = nil
                        return event
                    }
                    if chunks == nil { try await connect() } else { try await read() }
                }
                return nil
            } catch {
                (isOver, chunks) = (true, nil)
                throw Task.isCancelled ? CancellationError() : error
            }
        }

        private mutating func connect() async throws {
            let request = EventsRequest(base: service.base, lastEventId: parser.lastEventId)
            let response = try await request.response(with: service)
            chunks = response.body?.makeAsyncIterator()
            connection = response.trace.request
            isOver = chunks == nil
        }

        private mutating func read() async throws {
            var failure: HttpError?
            do {
                if let chunk = try await chunks?.next() { return parser.append(chunk) }
            } catch let error as HttpError {
                failure = error
            }
            // Outside of the `do`: what the retrier fails with is no failure to ask it about.
            let end = HttpError(.transport(.networkConnectionLost), stage: .send, request: connection)
            if try await reconnects(after: failure ?? end) { return }
            if let failure { throw service.mapError(failure) }
            isOver = true
        }

        /// Waits until another connection is to be made; false when none is.
        private mutating func reconnects(after error: HttpError) async throws -> Bool {
            chunks = nil
            parser.restart()
            try Task.checkCancellation()
            var retrier = retrier ?? service.service.retrierFactory.create(for: service.base)
            let decision = await retrier.retry(service.base, failingWith: error)
            self.retrier = retrier
            switch decision {
            case .retry(let delay, let permit):
                try await service.clock.sleep(for: Swift.max(delay, parser.reconnectionDelay ?? .zero))
                // The connection is made now, and paid for; a reader that has left has paid for nothing.
                _ = permit?.use()
                return true
            case .doNotRetry: return false
            case .fail(let other): throw service.mapError(other)
            }
        }
    }
}
