import NIOCore
import NIOPosix
import Nautilus

/// Opens web sockets over SwiftNIO: on Linux, whose Foundation has none, and wherever a server is written in Swift.
///
/// ```swift
/// struct ChatService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var webSocketTransport: any WebSocketTransport { NIOWebSocketTransport.shared }
/// }
/// ```
/// Like every transport it follows no redirects, retries nothing and times nothing out. What it does on its own:
/// - It refuses a server that does not complete the handshake as RFC 6455 §4.1 asks: another `Sec-WebSocket-Accept`, a
///   subprotocol or an extension that was not asked for.
/// - It puts fragments together, and answers pings while it reads (§5.4, §5.5).
/// - It reads ahead no more than ``Configuration/messagesAhead``, so that a slow reader slows the server down. A message is
///   sent once the system has taken all of it, so that a slow server slows the sender down.
/// - It closes with the code that fits when the server breaks the rules (§7.1.7): 1002; 1007 for text that is not UTF-8,
///   of which `receive()` tells by a `WebSocketClosure` with that code; 1009 for a message that is too large, of which it
///   tells by `TransportError.responseTooLarge(limit:)`. A connection that breaks off without a closing (1006 in the words
///   of §7.1.5) is a `TransportError` with the code `networkConnectionLost`.
/// - A message whose `send` is cancelled while it goes out goes out all the same, since half a frame would be the end of
///   the connection.
///
/// It asks for no extension, so messages are not compressed; it uses no proxy.
public struct NIOWebSocketTransport: WebSocketTransport {
    /// An instance for the whole process, with the default ``Configuration``.
    public static let shared = NIOWebSocketTransport()

    /// What was chosen.
    public let configuration: Configuration
    private let group: any EventLoopGroup
    private let secureContext: SecureContext

    /// Creates a transport. It holds no connection: sockets live as long as somebody holds them.
    ///
    /// - Parameters:
    ///   - configuration: What can be chosen; every default gives its reason at the property.
    ///   - group: Whose threads its sockets use; it has to outlive them. Default: the process's own, which nobody has to
    ///     shut down.
    public init(
        configuration: Configuration = Configuration(),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.configuration = configuration
        self.group = group
        self.secureContext = SecureContext(adjust: configuration.adjust)
    }

    /// Sends the opening request once; see `WebSocketTransport.open(_:context:)`.
    ///
    /// - Throws: `TransportError`, `notSent` when not a byte of the request was written; `InvalidRequest` for a header or
    ///   a body that cannot be sent; `CancellationError`, at once when the task is cancelled.
    public func open(_ request: HttpRequest, context: AttemptContext) async throws -> WebSocketOpening {
        let handshake = try HandshakeRequest(request)
        try Task.checkCancellation()
        let opening = SocketOpening(handshake, configuration)
        return try await withTaskCancellationHandler {
            opening.begin(on: group.next(), secureContext)
            return try await opening.answer.value
        } onCancel: {
            opening.cancel()
        }
    }
}
