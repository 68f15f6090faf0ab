import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Nautilus

/// One attempt to open a web socket: from the connection to the server's answer.
final class SocketOpening: Sendable {
    private struct State {
        /// What is being connected: several, when a host has several addresses.
        var channels: [any Channel] = []
        var isCancelled = false
    }

    /// What the caller waits for.
    let answer = Reply<WebSocketOpening>()
    private let request: HandshakeRequest
    private let configuration: NIOWebSocketTransport.Configuration
    private let state = NIOLockedValueBox(State())

    init(_ request: HandshakeRequest, _ configuration: NIOWebSocketTransport.Configuration) {
        self.request = request
        self.configuration = configuration
    }

    func begin(on loop: any EventLoop, _ secureContext: SecureContext) {
        guard request.isSecure else { return connect(on: loop, nil) }
        secureContext.context(on: loop).whenComplete { result in
            switch result {
            case .success(let context): self.connect(on: loop, context)
            case .failure(let error): self.fail(error, isSent: false)
            }
        }
    }

    /// Ends it on the wire; the caller has its error already.
    func cancel() {
        let channels = state.withLockedValue { state in
            state.isCancelled = true
            return state.channels
        }
        channels.forEach { $0.close(promise: nil) }
    }

    /// The server has answered with another status.
    func decline(_ head: HTTPResponseHead, body: ByteBuffer) {
        let response = HttpResponse(head, body: body, url: request.url)
        answer.complete(.success(.declined(response)))
    }

    /// - Parameter isSent: Whether anything of the request was written: what fails before is `notSent`, whatever it is.
    func fail(_ error: any Error, isSent: Bool) {
        answer.complete(.failure(TransportError(of: error, isSent: isSent)))
    }

    private func connect(on loop: any EventLoop, _ context: NIOSSLContext?) {
        ClientBootstrap(group: loop)
            // The call times its attempts. Two minutes end what its caller has long left.
            .connectTimeout(.minutes(2))
            // One read at a time, so that not much more is read than is asked for.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A server that has left is to be read to its last word, which may be one that opens.
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                self.holds(channel)
                    ? channel.eventLoop.makeSucceededVoidFuture()
                    : channel.eventLoop.makeFailedFuture(CancellationError())
            }
            .connect(host: request.host, port: request.port)
            .flatMapThrowing { channel in
                // Only now it is known which of a host's addresses is used: the request goes out once.
                do {
                    try self.prepare(channel, context)
                } catch {
                    channel.close(promise: nil)
                    throw error
                }
            }
            .whenFailure { self.fail($0, isSent: false) }
    }

    /// Remembers `channel`, to close it on cancellation; false when that has come already.
    private func holds(_ channel: any Channel) -> Bool {
        state.withLockedValue { state in
            if !state.isCancelled { state.channels.append(channel) }
            return !state.isCancelled
        }
    }

    private func prepare(_ channel: any Channel, _ context: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        if let context {
            try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: request.serverName))
        }
        let upgrader = HandshakeUpgrader(request, maxFrameSize: configuration.largestMessage) { channel, head in
            channel.eventLoop.makeCompletedFuture { try self.open(channel, head) }
        }
        // When the answer was given by then, this counts for nothing.
        let gate = UpgradeGate(upgrader) { self.fail(ChannelError.eof, isSent: true) }
        let handler = OpeningHandler(request, upgrader, self, bodyLimit: max(0, configuration.declinedBodyLimit))
        let handlers = NIOLoopBound((handler, gate), eventLoop: channel.eventLoop)
        try pipeline.addHandler(gate)
        try pipeline.addHTTPClientHandlers(
            // A server may send its first frame right behind the answer.
            leftOverBytesStrategy: .forwardBytes,
            withClientUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(handlers.value.0, promise: nil)
                    // A turn later, what came with the answer has gone through.
                    let pipeline = context.pipeline
                    context.eventLoop.execute {
                        pipeline.syncOperations.removeHandler(handlers.value.1, promise: nil)
                    }
                }
            )
        )
        try pipeline.addHandler(handler)
    }

    /// The handshake is complete: from here on there are frames.
    private func open(_ channel: any Channel, _ head: HTTPResponseHead) throws {
        let inbox = MessageInbox(messagesAhead: configuration.messagesAhead)
        let handler = SocketHandler(inbox, configuration)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
            FrameCheck(),
            NIOWebSocketFrameAggregator(
                // An empty fragment is allowed (RFC 6455 §5.4), but not without end.
                minNonFinalFragmentSize: 0,
                maxAccumulatedFrameCount: 65_536,
                maxAccumulatedFrameSize: configuration.largestMessage
            ),
            handler
        )
        let connection = SocketConnection(handler, inbox, on: channel.eventLoop)
        // When the caller has left meanwhile, nobody holds the connection, and it closes.
        answer.complete(.success(.opened(connection, header: HttpHeader(head.headers))))
        state.withLockedValue { $0.channels = [] }
    }
}
