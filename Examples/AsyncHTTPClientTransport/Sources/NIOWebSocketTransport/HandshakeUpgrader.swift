import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Decides whether a 101 completes the handshake, by all that RFC 6455 §4.1 asks a client to look at.
///
/// NIO's own checks `Upgrade` and `Sec-WebSocket-Accept`, with a key that is drawn anew for every attempt.
final class HandshakeUpgrader: NIOHTTPClientProtocolUpgrader {
    private let upgrader: NIOWebSocketClientUpgrader
    private let subprotocols: [Substring]
    /// Whether a 101 has come that completes the handshake. Only touched on the event loop.
    private(set) var isAccepted = false

    init(
        _ request: HandshakeRequest,
        maxFrameSize: Int,
        opened: @escaping @Sendable (any Channel, HTTPResponseHead) -> EventLoopFuture<Void>
    ) {
        subprotocols = request.subprotocols
        upgrader = NIOWebSocketClientUpgrader(
            maxFrameSize: maxFrameSize,
            // The socket's handler closes, and knows why.
            automaticErrorHandling: false,
            upgradePipelineHandler: opened
        )
    }

    var supportedProtocol: String { upgrader.supportedProtocol }
    var requiredUpgradeHeaders: [String] { upgrader.requiredUpgradeHeaders }

    func addCustom(upgradeRequestHeaders: inout HTTPHeaders) {
        upgrader.addCustom(upgradeRequestHeaders: &upgradeRequestHeaders)
    }

    func shouldAllowUpgrade(upgradeResponse: HTTPResponseHead) -> Bool {
        isAccepted = completesHandshake(upgradeResponse)
        return isAccepted
    }

    private func completesHandshake(_ upgradeResponse: HTTPResponseHead) -> Bool {
        let headers = upgradeResponse.headers
        guard upgrader.shouldAllowUpgrade(upgradeResponse: upgradeResponse) else { return false }
        let isUpgrade = headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
        guard isUpgrade else { return false }
        // None was asked for, so frames would mean something else than they say.
        guard !headers.contains(name: "Sec-WebSocket-Extensions") else { return false }
        let chosen = headers[canonicalForm: "Sec-WebSocket-Protocol"]
        return chosen.isEmpty || chosen.count == 1 && subprotocols.contains(chosen[0])
    }

    func upgrade(context: ChannelHandlerContext, upgradeResponse: HTTPResponseHead) -> EventLoopFuture<Void> {
        upgrader.upgrade(context: context, upgradeResponse: upgradeResponse)
    }
}
