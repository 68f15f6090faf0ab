import Foundation
import Nautilus

/// An open web socket: incoming messages are an asynchronous sequence, outgoing ones are sent with ``send(_:)``.
///
/// One task reads; any task may send. Keep reading, since only the reader finds out that the server has closed the
/// socket. Releasing the stream closes the socket, and so does cancelling the reading task.
///
/// When a connection breaks, the service's retrier decides about the next one. With `BackoffRetrier` there is always
/// another, unless the server has ended the socket by a closure or an answer; meanwhile the reader and senders wait.
/// Messages that the server sent while there was no connection are lost. If a connection breaks while a message is
/// being sent, ``send(_:)`` throws, with the delivery `maybeExecuted`, and does not repeat the message.
///
/// The sequence throws `Failure`, the service's own error: of kind `cancelled` when the task is cancelled, and with a
/// `RefreshError` underneath when the session of the socket is over. See the guide `WebSockets`.
public final class MessageStream<R: StreamRequest, Failure: Error>: AsyncSequence, Sendable {
    /// One message.
    public typealias Element = R.Result

    private let request: R
    /// The request that opened the first connection, for the failures of messages; nil if nothing was sent.
    private let opened: RequestSummary?
    private let coders: JsonCoders
    private let link: WebSocketLink
    private let sessions: CallSessions
    private let keeper: Task<Void, Never>
    /// The connection that is read to its end, even when a sender has found that it is lost, since it may still hold
    /// messages. Nil between two connections.
    private let unread: Locked<WebSocketLink.Open?>
    private let mapError: @Sendable (HttpError) -> Failure

    /// - Parameters:
    ///   - opening: The call that opens a connection.
    ///   - connections: The stream's connections, of which the first is open.
    init(
        _ request: R,
        _ response: HttpResponse<WebSocketCall<R>.Result>,
        by opening: WebSocketCall<R>,
        _ connections: Confined<StreamConnections<WebSocketCall<R>>>,
        service: BoundService<Failure>
    ) {
        let connection = response.body.connection
        let (link, sessions) = (WebSocketLink(connection), connections.value.sessions)
        (self.request, self.opened) = (request, response.trace.request)
        self.coders = service.configuration.coders
        self.link = link
        self.sessions = sessions
        self.unread = Locked(WebSocketLink.Open(connection: connection, number: 1))
        self.mapError = { service.mapError($0) }
        // The task has to outlive the deadline of the surrounding call.
        self.keeper = BackgroundTask.start {
            await withTaskGroup(of: Void.self) { group in
                if !sessions.isEmpty { group.addTask { await Self.endWithSession(link, sessions) } }
                group.addTask { await Self.keep(link, opening, connections) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    deinit {
        keeper.cancel()
        // A connection that nobody holds closes itself.
        link.end(HttpError(wrapping: CancellationError(), stage: .send, delivery: .notSent))
    }

    /// How many connections there have been so far, including the first; 0 once the stream has ended.
    public var connectionCount: Int { link.connectionCount }

    /// Sends a message, and returns when the connection has taken it.
    ///
    /// - Throws: The service's error, made from the error of `StreamRequest/encode(_:)`, from the connection's failure,
    ///   or from what has ended the stream.
    public func send(_ message: R.Message) async throws(Failure) {
        try await mappingErrors {
            let encoded: WebSocketMessage
            do {
                encoded = try coders.asCurrent { try request.encode(message) }
            } catch {
                throw HttpError(.custom, stage: .build, delivery: .notSent, request: opened, underlying: error)
            }
            try await onConnection { try await $0.send(encoded) }
        }
    }

    /// Sends a ping, and waits for its pong, which comes only while a task reads.
    ///
    /// - Throws: The same as ``send(_:)``.
    public func ping() async throws(Failure) {
        try await mappingErrors { try await onConnection { try await $0.ping() } }
    }

    /// Closes the socket: the reader gets nil, senders get an error.
    ///
    /// - Parameters:
    ///   - code: Why. Default: 1000, the purpose has been served. A code that must not be sent (RFC 6455 §7.4) becomes
    ///     1000.
    ///   - reason: An explanation of at most 123 bytes of UTF-8; a longer one is left out. Default: none.
    public func close(_ code: WebSocketClosure.Code = .normalClosure, reason: String = "") async {
        keeper.cancel()
        let connection = link.end()
        let unread = unread.withLock { $0.take() }
        let closure = WebSocketClosure(
            code.isSendable ? code : .normalClosure,
            reason: reason.utf8.count <= 123 ? reason : ""
        )
        await connection?.close(closure)
        // A lost connection may still be open for reading; only the first closing counts.
        await unread?.connection.close(closure)
    }

    /// The messages, for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// An iterator over the messages, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: MessageStream

        /// The next message; nil when the socket was closed properly, by either side.
        ///
        /// - Throws: The service's error when the stream has ended, or the message cannot be decoded. Only after an
        ///   undecodable message can the next one still be read.
        public mutating func next() async throws(Failure) -> R.Result? {
            try await stream.mappingErrors { try await stream.next() }
        }
    }
}

extension MessageStream {
    fileprivate func mappingErrors<Value>(_ work: () async throws -> Value) async throws(Failure) -> Value {
        do {
            return try await work()
        } catch {
            throw mapError(HttpError(ending: error))
        }
    }

    fileprivate func next() async throws -> R.Result? {
        while let open = try await live() {
            let message: WebSocketMessage
            do {
                message = try await open.connection.receive()
            } catch {
                unread.withLock { $0 = nil }
                try await settle(error, of: open)
                continue
            }
            link.received(over: open)
            sessions.look()
            // If the session has ended while the reader waited, the message belongs to the previous user.
            if await endIfSessionIsOver() { continue }
            do {
                return try coders.asCurrent { try request.decode(message) }
            } catch {
                throw HttpError(.decoding, stage: .decode, request: opened, underlying: error)
            }
        }
        return nil
    }

    private func onConnection(_ body: (any WebSocketConnection) async throws -> Void) async throws {
        sessions.look()
        while let open = try await link.current() {
            // The sender may be another user by now.
            if await endIfSessionIsOver() { continue }
            do {
                return try await body(open.connection)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                if var end = sessions.end {
                    // The sign-out has closed the socket under this message, of which a part may be on its way.
                    end.delivery = .maybeExecuted
                    throw end
                }
                // The reader finds out the reason by itself, since messages that came before the end are still to be
                // read.
                if !(error is WebSocketClosure) { link.lose(open, Self.loss(error)) }
                // The connection was lost before this began: the next connection takes it, if the retrier opens one.
                if case TransportError.failed(.networkConnectionLost, .notSent, _) = error { continue }
                throw HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted)
            }
        }
        throw HttpError(wrapping: WebSocketClosure(.normalClosure), stage: .send, delivery: .notSent)
    }

    /// The connection to read. A cancelled reader ends the stream.
    private func live() async throws -> WebSocketLink.Open? {
        do {
            try Task.checkCancellation()
            if await endIfSessionIsOver() { unread.withLock { $0 = nil } }
            if let open = unread.withLock({ $0 }) { return open }
            let open = try await link.current()
            unread.withLock { $0 = open }
            return open
        } catch is CancellationError {
            await close(.goingAway)
            throw CancellationError()
        }
    }

    /// Reacts to the end of a connection: asks for another one, or ends the stream.
    private func settle(_ error: any Error, of open: WebSocketLink.Open) async throws {
        switch error {
        case is CancellationError:
            await close(.goingAway)
            throw CancellationError()
        case let closure as WebSocketClosure where closure.code.isNormal:
            link.end()
        case let closure as WebSocketClosure where !request.reconnects(after: closure):
            link.end(HttpError(.custom, stage: .send, request: opened, underlying: closure))
        default:
            link.lose(open, Self.loss(error))
        }
    }

    /// Converts the end of a connection into a failure that a retrier understands.
    private static func loss(_ error: any Error) -> HttpError {
        // Opening another connection repeats nothing.
        var loss = HttpError(wrapping: error, stage: .send, delivery: .notSent)
        loss.delivery = .notSent
        if loss.kind == .custom { loss.kind = .transport(.networkConnectionLost) }
        return loss
    }

    /// Closes the socket when the session in which it was opened is over, since the next user's messages do not belong
    /// on it.
    private static func endWithSession(_ link: WebSocketLink, _ sessions: CallSessions) async {
        await sessions.waitForEnd()
        guard let end = sessions.end else { return }
        await link.end(end)?.close(WebSocketClosure(.goingAway))
    }

    /// Closes the socket for a reader or sender that comes before the task waiting for the session's end has run.
    ///
    /// - Returns: Whether the session is over; the link has ended then, if it had not already.
    private func endIfSessionIsOver() async -> Bool {
        guard let end = sessions.end else { return false }
        await link.end(end)?.close(WebSocketClosure(.goingAway))
        return true
    }

    /// Replaces lost connections, until the retrier gives up or the stream is released.
    private static func keep(
        _ link: WebSocketLink,
        _ opening: WebSocketCall<R>,
        _ connections: Confined<StreamConnections<WebSocketCall<R>>>
    ) async {
        for await loss in link.losses {
            if loss.hasReceived { connections.value.received() }
            do throws(HttpError) {
                try await connections.value.waitForNext(after: loss.error)
                let connection = try await connections.value.open(opening).body.connection
                guard link.reopened(connection) else { return await connection.close(.init(.goingAway)) }
            } catch {
                link.end(error)
                return
            }
        }
    }
}

extension StreamRequest {
    /// Opens the web socket in the same way as any call: headers, interceptors, credential, redirects, retries.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - reconnectLimit: How often and how long to try another connection after a loss. Default: none, since a socket
    ///     is meant to last.
    /// - Returns: The open socket; releasing it closes it.
    /// - Throws: The service's own error, made by `HttpService/mapError(_:)` from the last real failure.
    public func schedule<S: HttpService>(
        with service: S,
        reconnectLimit: ReconnectLimit = .none
    ) async throws(S.RequestError) -> MessageStream<Self, S.RequestError> {
        // Selected now, whatever is selected once the socket is open.
        let service = BoundService(service)
        do throws(HttpError) {
            let (configuration, handshake) = service.configuration.forWebSocket()
            let opening = WebSocketCall(request: self, handshake: handshake)
            let connections = Confined(
                StreamConnections(of: opening, with: configuration, reconnectLimit: reconnectLimit)
            )
            let response = try await connections.value.open(opening)
            return MessageStream(self, response, by: opening, connections, service: service)
        } catch {
            throw service.mapError(error)
        }
    }
}

extension MessageStream: Redacted {
    /// The number of connections so far; nothing of the request, which may hold a token.
    public var description: String { "MessageStream(connections: \(connectionCount))" }
}
