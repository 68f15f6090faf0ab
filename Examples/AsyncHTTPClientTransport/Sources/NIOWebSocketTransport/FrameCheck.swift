import NIOCore
import NIOWebSocket

/// Lets through what a server may send (RFC 6455 §5.1, §5.2), before fragments are put together.
final class FrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    /// A frame that no server may send.
    struct Violation: Error {}

    private static let opcodes: [WebSocketOpcode] = [.continuation, .text, .binary, .connectionClose, .ping, .pong]
    private var isBroken = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        let frame = Self.unwrapInboundIn(data)
        // Masked is what clients send; the reserved bits belong to extensions, of which none was agreed on.
        guard frame.maskKey == nil, !frame.rsv1, !frame.rsv2, !frame.rsv3, Self.opcodes.contains(frame.opcode) else {
            isBroken = true
            return context.fireErrorCaught(Violation())
        }
        context.fireChannelRead(data)
    }
}
