import Nautilus
import NautilusCurl

/// The transport that the suites of every transport are run on here.
enum TransportUnderTest {
    /// Whether there is a libcurl here that can be used.
    static let isAvailable = CurlTransport.unavailability == nil

    /// One with connections of its own; nil for the default.
    static func make(responseLimit: Int? = nil, connectionsPerHost: Int? = nil) -> any HttpTransport {
        // A machine that runs all tests at once may take long to accept a connection.
        var configuration = CurlTransport.Configuration(connectTimeout: .seconds(120))
        if let responseLimit { configuration.responseLimit = responseLimit }
        if let connectionsPerHost { configuration.connectionsPerHost = connectionsPerHost }
        return CurlTransport(configuration: configuration)
    }
}

extension BrokenExchange {
    /// An exchange that ends the process on Linux where it is given to Foundation.
    static let own = [
        BrokenExchange("half a header", .connectionLost, answering: "HTTP/1.1 200 OK\r\nX-Na")
    ]
}
