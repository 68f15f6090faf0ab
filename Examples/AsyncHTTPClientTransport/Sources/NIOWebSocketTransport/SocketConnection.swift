import Foundation
import NIOCore
import NIOFoundationCompat
import Nautilus

/// One open web socket, for its callers; what it does, its handler does on the event loop.
final class SocketConnection: WebSocketConnection {
    private let handler: NIOLoopBound<SocketHandler>
    private let loop: any EventLoop
    private let inbox: MessageInbox

    /// Called on the event loop.
    init(_ handler: SocketHandler, _ inbox: MessageInbox, on loop: any EventLoop) {
        self.handler = NIOLoopBound(handler, eventLoop: loop)
        self.loop = loop
        self.inbox = inbox
    }

    deinit {
        beginClosing(WebSocketClosure(.goingAway))
    }

    func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        guard message.byteCount <= Int(UInt32.max) else { throw TransportError.messageTooLarge }
        try await perform { handler, reply in handler.send(message, reply) }
    }

    func receive() async throws -> WebSocketMessage {
        do {
            try Task.checkCancellation()
            let (reply, readsOn) = inbox.take()
            if readsOn { loop.execute { [handler] in handler.value.readOn() } }
            return try await reply.value
        } catch is CancellationError {
            // What the reader has left, nobody else finds out about.
            beginClosing(WebSocketClosure(.goingAway))
            throw CancellationError()
        }
    }

    func ping() async throws {
        try Task.checkCancellation()
        try await perform { handler, reply in handler.ping(reply) }
    }

    func close(_ closure: WebSocketClosure) async {
        // Whoever waits has left at once, however long the closing takes to be written.
        inbox.end(closure, dropping: true)
        _ = try? await perform { handler, reply in handler.close(closure, reply) }
    }

    private func beginClosing(_ closure: WebSocketClosure) {
        inbox.end(closure, dropping: true)
        loop.execute { [handler] in handler.value.close(closure, Reply()) }
    }

    private func perform(_ operation: @escaping @Sendable (SocketHandler, Reply<Void>) -> Void) async throws {
        let reply = Reply<Void>()
        loop.execute { [handler] in operation(handler.value, reply) }
        try await reply.value
    }
}

extension TransportError {
    fileprivate static var messageTooLarge: TransportError {
        let reason = "A message of more than 4 GiB is not sent as one."
        return .failed(.dataLengthExceedsMaximum, delivery: .notSent, reason: reason)
    }
}
