import Nautilus
import NautilusCurl

/// The transport that the suites of every transport of web sockets are run on here.
enum SocketsUnderTest {
    /// Whether there is a libcurl here that can be used.
    static let isAvailable = CurlTransport.unavailability == nil

    // A machine that runs all tests at once may take long to accept a connection.
    private static let transport = CurlTransport(configuration: .init(connectTimeout: .seconds(120)))

    /// The one for all tests.
    static let shared: any WebSocketTransport = CurlWebSocketTransport(over: transport)

    /// One of its own kind; nil for the default.
    static func make(messageLimit: Int? = nil, declinedBodyLimit: Int? = nil) -> any WebSocketTransport {
        var configuration = CurlWebSocketTransport.Configuration()
        if let messageLimit { configuration.messageLimit = messageLimit }
        if let declinedBodyLimit { configuration.declinedBodyLimit = declinedBodyLimit }
        return CurlWebSocketTransport(over: transport, configuration: configuration)
    }
}
