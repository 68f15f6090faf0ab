import NIOCore

/// Stands before the handlers of HTTP, and holds back the server's leaving while they make way for those of frames.
///
/// That takes a turn of the loop. A server that sends its first messages with the 101 and then leaves would else be heard
/// by handlers that take its leaving for the end of an answer, and drop the messages.
final class UpgradeGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let upgrader: HandshakeUpgrader
    private let whenRemoved: () -> Void
    private var isInputClosed = false

    /// - Parameter whenRemoved: Called when frames have their turn, or the connection went down before.
    init(_ upgrader: HandshakeUpgrader, whenRemoved: @escaping () -> Void) {
        self.upgrader = upgrader
        self.whenRemoved = whenRemoved
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if upgrader.isAccepted, case ChannelEvent.inputClosed = event {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        context.leavePipeline(removalToken: removalToken)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        whenRemoved()
    }
}
