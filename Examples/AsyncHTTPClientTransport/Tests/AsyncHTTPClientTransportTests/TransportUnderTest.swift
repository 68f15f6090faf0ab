import AsyncHTTPClientTransport
import Nautilus

/// The transport that the suites of every transport are run on here.
enum TransportUnderTest {
    /// Whether it can be used on this machine.
    static let isAvailable = true

    /// One with connections of its own; nil for the default.
    static func make(responseLimit: Int? = nil, connectionsPerHost: Int? = nil) -> any HttpTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        if let responseLimit { configuration.responseLimit = responseLimit }
        if let connectionsPerHost { configuration.connectionsPerHost = connectionsPerHost }
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}

extension BrokenExchange {
    /// An exchange that ends the process on Linux where it is given to Foundation.
    static let own = [
        BrokenExchange("half a header", .connectionLost, answering: "HTTP/1.1 200 OK\r\nX-Na")
    ]
}
