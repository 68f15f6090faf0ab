import NIOCore
import NIOHTTP1
import NIOTLS

/// Sends the opening request as soon as the connection is ready for it, and hears every answer but the right one.
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HandshakeRequest
    private let upgrader: HandshakeUpgrader
    private let opening: SocketOpening
    private let bodyLimit: Int
    private var isSent = false
    /// What has come of an answer with another status.
    private var refusal: (head: HTTPResponseHead, body: ByteBuffer)?

    init(_ request: HandshakeRequest, _ upgrader: HandshakeUpgrader, _ opening: SocketOpening, bodyLimit: Int) {
        self.request = request
        self.upgrader = upgrader
        self.opening = opening
        self.bodyLimit = bodyLimit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if !request.isSecure { send(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // Not before, so that a handshake that fails is a request that was not sent.
        case TLSUserEvent.handshakeCompleted: send(context)
        case ChannelEvent.inputClosed: end(context, ChannelError.eof)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func send(_ context: ChannelHandlerContext) {
        isSent = true
        context.write(Self.wrapOutboundOut(.head(request.head)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            // A 101 that comes as far as here was no right one, of which an error tells.
            if head.status != .switchingProtocols { refusal = (head, ByteBuffer()) }
        case .body(let part):
            let room = bodyLimit - (refusal?.body.readableBytes ?? 0)
            let kept = part.getSlice(at: part.readerIndex, length: min(room, part.readableBytes))
            if let kept { refusal?.body.writeImmutableBuffer(kept) }
            if part.readableBytes > room { end(context, ChannelError.eof) }
        case .end:
            end(context, ChannelError.eof)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(context, error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context, ChannelError.eof)
        context.fireChannelInactive()
    }

    /// Tells the caller, by the status if there is one: what is missing of its body decides nothing.
    private func end(_ context: ChannelHandlerContext, _ error: any Error) {
        // The answer is there, and with it the socket; what has ended is to be found out by its reader.
        guard !upgrader.isAccepted else { return }
        if let refusal {
            opening.decline(refusal.head, body: refusal.body)
        } else {
            opening.fail(error, isSent: isSent)
        }
        context.close(promise: nil)
    }
}
