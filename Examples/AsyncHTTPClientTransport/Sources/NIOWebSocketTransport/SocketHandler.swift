import Foundation
import NIOCore
import NIOFoundationCompat
import NIOWebSocket
import Nautilus

/// The frames of one open web socket, on its event loop: messages into the inbox, pings answered, the closing.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    enum Phase {
        case open
        /// This end has said that it closes, and sends nothing more (RFC 6455 §7.1.3).
        case closing
        case closed
    }

    let inbox: MessageInbox
    let messageLimit: Int
    let closeTimeout: Duration
    var phase = Phase.open
    /// What waits for its pong, in the order in which it was sent.
    var pings: [(number: UInt64, reply: Reply<Void>)] = []
    private var lastPing: UInt64 = 0
    /// Whether a pong is being written, and the ping to answer next: of several the last (§5.5.3), so that a server that
    /// does nothing else fills no memory.
    private var isPonging = false
    private var pongDue: ByteBuffer?
    var closing: Scheduled<Void>?
    /// Nil once it has left the pipeline.
    var context: ChannelHandlerContext?

    init(_ inbox: MessageInbox, _ configuration: NIOWebSocketTransport.Configuration) {
        self.inbox = inbox
        self.messageLimit = configuration.largestMessage
        self.closeTimeout = configuration.closeTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        disconnect()
        self.context = nil
    }
}

/// What callers ask for.
extension SocketHandler {
    /// Sends a message; the reply comes when the system has taken all of it.
    func send(_ message: WebSocketMessage, _ reply: Reply<Void>) {
        let (opcode, data) =
            switch message {
            case .text(let text): (WebSocketOpcode.text, ByteBuffer(string: text))
            case .data(let data): (WebSocketOpcode.binary, ByteBuffer(data: data))
            }
        guard let sent = write(opcode, data) else { return reply.complete(.failure(notBegun)) }
        sent.assumeIsolated().whenComplete { result in
            switch result {
            case .success: reply.complete(.success(()))
            case .failure: reply.complete(.failure(self.inbox.ending ?? TransportError(.networkConnectionLost)))
            }
        }
    }

    /// Sends a ping; the reply comes with its pong.
    func ping(_ reply: Reply<Void>) {
        lastPing += 1
        guard write(.ping, ByteBuffer(integer: lastPing)) != nil else { return reply.complete(.failure(notBegun)) }
        pings.append((lastPing, reply))
    }

    /// Reads what was held back.
    func readOn() {
        context?.read()
    }

    /// Writes a frame, masked by a key of its own (RFC 6455 §5.3); nil when nothing may be written any more.
    func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> EventLoopFuture<Void>? {
        guard phase == .open, let context else { return nil }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        return context.writeAndFlush(Self.wrapOutboundOut(frame))
    }

    /// Why nothing can be sent any more.
    private var notBegun: any Error {
        switch inbox.ending {
        case TransportError.failed?, nil: TransportError(.networkConnectionLost, delivery: .notSent)
        case let ending?: ending
        }
    }
}

/// What the server sends.
extension SocketHandler {
    func read(context: ChannelHandlerContext) {
        // Behind the closing comes the end of the connection, which is not to be missed.
        if phase != .open || inbox.admitsMore() { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .connectionClose: serverCloses(frame.data)
        case _ where phase != .open: break
        case .binary: inbox.put(.data(Data(buffer: frame.data)))
        case .text:
            guard let text = frame.data.utf8Text else { return fail(.invalidPayload) }
            inbox.put(.text(text))
        case .ping: pong(frame.data)
        case .pong: serverPongs(frame.data)
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A server that sends nothing more has left: half a web socket is none.
        if case ChannelEvent.inputClosed = event {
            disconnect()
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        disconnect()
        context.fireChannelInactive()
    }

    /// Answers with the same data (RFC 6455 §5.5.3).
    private func pong(_ data: ByteBuffer) {
        guard !isPonging else {
            pongDue = data
            return
        }
        isPonging = true
        write(.pong, data)?.assumeIsolated().whenSuccess {
            self.isPonging = false
            guard let next = self.pongDue else { return }
            self.pongDue = nil
            self.pong(next)
        }
    }

    private func serverPongs(_ data: ByteBuffer) {
        // One that nobody asked for is a heartbeat, and means nothing else.
        guard data.readableBytes == MemoryLayout<UInt64>.size,
            let number = data.getInteger(at: data.readerIndex, as: UInt64.self)
        else { return }
        // The pong of a later ping answers the earlier ones as well.
        while let first = pings.first, first.number <= number {
            pings.removeFirst()
            first.reply.complete(.success(()))
        }
    }
}
