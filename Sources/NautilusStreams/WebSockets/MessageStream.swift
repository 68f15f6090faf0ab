import Foundation
import Nautilus

/// An open web socket: messages come as an asynchronous sequence, and go by ``send(_:)``.
///
/// When the connection breaks off, or the server goes away, the service's retrier decides on another one, as it does on
/// another attempt; credentials are stamped anew. After a connection that has served, over which a message has come or
/// which has lasted for ten seconds, it is a new retrier, and no budget pays (`HttpError/hadServed`); others are
/// counted by one, and paid for. Connections follow one another a second apart in the long run, after five at once.
/// When the retrier wants no other one, the stream ends with the service's error, whose trace tells why.
///
/// Meanwhile the reader waits, and so do senders. What that means:
/// - Messages that the server sent while there was no connection have not come: ask for what was missed. Messages that
///   came before it broke are read first, whichever side noticed.
/// - A message that was being sent when the connection broke is not sent again, since it may have arrived:
///   ``send(_:)`` throws, with the delivery `maybeExecuted`. One that was not begun waits for the next connection,
///   unless the server has closed this one with a code, 1001 or 1012, say: until the reader has come to that,
///   ``send(_:)`` throws, with `maybeExecuted`, too.
/// - A message may be lost with the connection even after its sending has returned, as with any socket; if you must
///   know that it arrived, have the server answer it.
///
/// A socket belongs to the session in which it was opened. When the user signs out, or another signs in, it is closed,
/// no message goes or comes over it any more, and the stream ends with the service's error for
/// `RefreshError/superseded`; for `RefreshError/sessionExpired(underlying:)` when the server has ended the session. A
/// session that has been ended in another process is over as soon as this one knows: each call looks, each new connection
/// does, and so does each message, once a second.
///
/// One task reads; any may send. Keep reading, since only the reader finds out, behind the last message, that the
/// server has closed the socket. Releasing the stream closes the socket, and so does cancelling the task that reads.
///
/// It throws `Failure`, the service's own error; of kind `cancelled` when the task is cancelled.
public final class MessageStream<R: StreamRequest, Failure: Error>: AsyncSequence, Sendable {
    /// One message.
    public typealias Element = R.Result

    private let request: R
    private let coders: JsonCoders
    private let link: WebSocketLink
    private let calls: CallSequence
    private let keeper: Task<Void, Never>
    /// The connection being read, to its end, also when a sender has found out that it is gone: messages may lie in it.
    /// Nil between two connections.
    private let unread: Locked<WebSocketLink.Open?>
    private let mapError: @Sendable (HttpError) -> Failure

    /// - Parameters:
    ///   - opening: The call that opens a connection.
    ///   - connections: Its connections, of which the first is open.
    init<S: HttpService>(
        _ request: R,
        _ connection: any WebSocketConnection,
        by opening: WebSocketCall<R>,
        _ connections: Confined<StreamConnections<WebSocketCall<R>, WebSocketService>>,
        service: S
    ) where S.RequestError == Failure {
        let (link, calls) = (WebSocketLink(connection), connections.value.calls)
        self.request = request
        self.coders = service.coders
        self.link = link
        self.calls = calls
        self.unread = Locked(WebSocketLink.Open(connection: connection, number: 1))
        self.mapError = { service.mapped($0) }
        // It outlives the deadline of the call around it.
        self.keeper = BackgroundTask.start {
            await withTaskGroup(of: Void.self) { group in
                if calls.hasSession { group.addTask { await Self.endWithSession(link, calls) } }
                group.addTask { await Self.keep(link, opening, connections) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    deinit {
        keeper.cancel()
        // A connection that is not held closes itself.
        link.end(HttpError(wrapping: CancellationError(), stage: .send, delivery: .notSent))
    }

    /// How many connections there have been so far, the first included; 0 once the stream has ended.
    public var connectionCount: Int { link.connectionCount }

    /// Sends a message; returns when the connection has taken it.
    ///
    /// - Throws: The service's error, made of what `StreamRequest/encode(_:)` threw, of the connection's failure, or
    ///   of what has ended the stream.
    public func send(_ message: R.Message) async throws(Failure) {
        try await mappingErrors {
            let encoded: WebSocketMessage
            do {
                encoded = try coders.asCurrent { try request.encode(message) }
            } catch {
                throw HttpError(.custom, stage: .build, delivery: .notSent, underlying: error)
            }
            try await onConnection { try await $0.send(encoded) }
        }
    }

    /// Sends a ping and waits for its pong, which comes only while a task reads.
    ///
    /// - Throws: The same as ``send(_:)``.
    public func ping() async throws(Failure) {
        try await mappingErrors { try await onConnection { try await $0.ping() } }
    }

    /// Closes the socket: the reader gets nil, senders an error.
    ///
    /// - Parameters:
    ///   - code: Why. Default: 1000, it has served its purpose. One that must not be sent (RFC 6455 §7.4) becomes 1000.
    ///   - reason: The words for it, at most 123 bytes of UTF-8; the rest is left out. Default: none.
    public func close(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        keeper.cancel()
        let connection = link.end()
        let unread = unread.withLock { $0.take() }
        let closure = WebSocketClosure(
            code.isSendable ? code : .normalClosure,
            reason: reason.utf8.count <= 123 ? reason : ""
        )
        await connection?.close(closure)
        // One that was lost already, and is still read: only the first closing counts.
        await unread?.connection.close(closure)
    }

    /// The messages, for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// Takes one message after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: MessageStream

        /// The next message; nil when the socket was closed as it should be, on either side.
        ///
        /// - Throws: The service's error when the stream has ended, or when the message cannot be decoded; after that,
        ///   and only after that, the next one can be read.
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
            calls.lookForChanges()
            // It is the user's before, who has left while the reader waited.
            if await endIfSessionIsOver() { continue }
            do {
                return try coders.asCurrent { try request.decode(message) }
            } catch {
                throw HttpError(.decoding, stage: .decode, underlying: error)
            }
        }
        return nil
    }

    private func onConnection(_ body: (any WebSocketConnection) async throws -> Void) async throws {
        calls.lookForChanges()
        while let open = try await link.current() {
            // Another user may write this.
            if await endIfSessionIsOver() { continue }
            do {
                return try await body(open.connection)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // The reader finds out the reason by itself: messages that came before the end are still to be read.
                if !(error is WebSocketClosure) { link.lose(open, Self.loss(error)) }
                // It was gone before this began: the next one takes it, as far as the retrier goes.
                if case TransportError.failed(.networkConnectionLost, .notSent, _) = error { continue }
                throw HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted)
            }
        }
        throw HttpError(wrapping: WebSocketClosure(.normalClosure), stage: .send, delivery: .notSent)
    }

    /// The connection to read; a cancelled reader ends the stream.
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
            link.end(HttpError(.custom, stage: .send, underlying: closure))
        default:
            link.lose(open, Self.loss(error))
        }
    }

    /// The end of a connection, as a failure that a retrier understands.
    private static func loss(_ error: any Error) -> HttpError {
        // To open another connection does nothing twice.
        var loss = HttpError(wrapping: error, stage: .send, delivery: .notSent)
        loss.delivery = .notSent
        if loss.kind == .custom { loss.kind = .transport(.networkConnectionLost) }
        return loss
    }

    /// Closes the socket when the session that it was opened in is over: the next user's messages do not belong on it.
    private static func endWithSession(_ link: WebSocketLink, _ calls: CallSequence) async {
        await calls.waitForEndOfSession()
        guard let end = calls.endOfSession else { return }
        await link.end(end)?.close(WebSocketClosure(.goingAway))
    }

    /// Does the same for a reader or a sender, who may come before the task that waits for the end has run.
    ///
    /// - Returns: Whether the session is over; the link has ended then, if it had not before.
    private func endIfSessionIsOver() async -> Bool {
        guard let end = calls.endOfSession else { return false }
        await link.end(end)?.close(WebSocketClosure(.goingAway))
        return true
    }

    /// Replaces connections that are lost, until the retrier gives up or the stream is released.
    private static func keep(
        _ link: WebSocketLink,
        _ opening: WebSocketCall<R>,
        _ connections: Confined<StreamConnections<WebSocketCall<R>, WebSocketService>>
    ) async {
        for await loss in link.losses {
            if loss.hasReceived { connections.value.received() }
            do throws(HttpError) {
                try await connections.value.waitForNext(after: loss.error)
                let connection = try await connections.value.open(opening).body.connection
                guard link.reopened(connection) else { return await connection.close(.init(.goingAway)) }
            } catch {
                link.end(connections.value.calls.ending(error))
                return
            }
        }
    }
}

extension StreamRequest {
    /// Opens the web socket, on the path of every call: headers, interceptors, credential, redirects, retries.
    ///
    /// - Returns: The open socket; releasing it closes it.
    /// - Throws: The service's own error, made by `HttpService/mapError(_:)` from the last real failure.
    public func schedule<S: HttpService>(with service: S) async throws(S.RequestError) -> MessageStream<
        Self, S.RequestError
    > {
        if let selected = service.selectedService { return try await schedule(with: selected) }
        do throws(HttpError) {
            let base = WebSocketService(service)
            let opening = WebSocketCall(request: self, handshake: base.handshake)
            let connections = Confined(StreamConnections(of: opening, with: base))
            let connection = try await connections.value.open(opening).body.connection
            return MessageStream(self, connection, by: opening, connections, service: service)
        } catch {
            throw service.mapped(error)
        }
    }
}
