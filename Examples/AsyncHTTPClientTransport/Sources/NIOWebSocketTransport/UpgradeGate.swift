import NIOCore

/// Stands before the handlers of HTTP, and holds back what comes while they are exchanged for those of frames.
///
/// The exchange takes a turn of the loop. A server that sends its first messages with the 101 and then leaves would be
/// heard by handlers that take its leaving for the end of an answer, and drop the messages.
final class UpgradeGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let upgrader: HandshakeUpgrader
    private var held: [NIOAny] = []
    private var isInputClosed = false

    init(_ upgrader: HandshakeUpgrader) {
        self.upgrader = upgrader
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if upgrader.isAccepted { held.append(data) } else { context.fireChannelRead(data) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if upgrader.isAccepted, case ChannelEvent.inputClosed = event {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Leaves, and lets through what was held back, in its order.
    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        for data in held { context.fireChannelRead(data) }
        if !held.isEmpty { context.fireChannelReadComplete() }
        if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        held = []
        context.leavePipeline(removalToken: removalToken)
    }
}
