import NIOWebSocketTransport
import Nautilus

/// The transport that the suites of every transport of web sockets are run on here.
enum SocketsUnderTest {
    static let isAvailable = true

    static let shared: any WebSocketTransport = NIOWebSocketTransport.shared

    /// One of its own kind; nil for the default.
    static func make(messageLimit: Int? = nil, declinedBodyLimit: Int? = nil) -> any WebSocketTransport {
        var configuration = NIOWebSocketTransport.Configuration()
        if let messageLimit { configuration.messageLimit = messageLimit }
        if let declinedBodyLimit { configuration.declinedBodyLimit = declinedBodyLimit }
        return NIOWebSocketTransport(configuration: configuration)
    }
}
