import NIOCore
import NIOWebSocket
import Nautilus

/// The end, from either side.
extension SocketHandler {
    /// This end closes; the reply comes when the server can know. Only the first closing counts.
    func close(_ closure: WebSocketClosure, _ reply: Reply<Void>) {
        inbox.end(closure, dropping: true)
        guard let said = sayClosing(closure) else { return reply.complete(.success(())) }
        said.whenComplete { _ in reply.complete(.success(())) }
    }

    /// The server has closed, or agrees to (RFC 6455 §7.1.2).
    func serverCloses(_ payload: ByteBuffer) {
        guard phase == .open else {
            // Both have said it, and the server knows: nothing is left to be read or written.
            context?.close(promise: nil)
            return
        }
        do throws(WebSocketClosure) {
            let closure = try WebSocketClosure(payload: payload)
            inbox.end(closure)
            // The same code goes back (§5.5.1), without the reason. The server then ends the connection (§7.1.1).
            _ = sayClosing(WebSocketClosure(closure.code))
        } catch {
            fail(error.code)
        }
    }

    /// The server has broken the rules: it is told by which code, and the reader as well.
    func fail(_ code: WebSocketCloseCode) {
        let closure = WebSocketClosure(code)
        inbox.end(code == .messageTooBig ? TransportError.responseTooLarge(limit: messageLimit) : closure)
        _ = sayClosing(closure)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
            NIOWebSocketFrameAggregator.Error.tooManyFragments:
            fail(.messageTooBig)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is FrameCheck.Violation:
            fail(.protocolError)
        case is ByteToMessageDecoderError:
            // What comes behind a frame that was refused.
            break
        default:
            // Of TLS or of the system: what it was, the handshake's end and the messages do not depend on.
            disconnect()
            context.close(promise: nil)
        }
    }

    /// The connection has ended. Whoever still waits gets what came first: a closing, or that there was none.
    func disconnect() {
        phase = .closed
        closing?.cancel()
        closing = nil
        inbox.end(TransportError(.networkConnectionLost))
        failPings()
    }

    /// - Returns: When it has been written; nil when it was said before.
    private func sayClosing(_ closure: WebSocketClosure) -> EventLoopFuture<Void>? {
        guard let context, let said = write(.connectionClose, closure.payload) else { return nil }
        phase = .closing
        failPings()
        let channel = context.channel
        closing = context.eventLoop.scheduleTask(in: TimeAmount(closeTimeout)) { channel.close(promise: nil) }
        // Reading may have been held back for want of room.
        context.read()
        return said
    }

    private func failPings() {
        let error = inbox.ending ?? TransportError(.networkConnectionLost)
        for ping in pings { ping.reply.complete(.failure(error)) }
        pings = []
    }
}
