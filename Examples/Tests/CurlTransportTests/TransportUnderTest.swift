import Nautilus

/// The transport that the suites of every transport are run on here.
enum TransportUnderTest {
    /// One with connections of its own; nil for the default.
    static func make(responseLimit: Int? = nil, connectionsPerHost: Int? = nil) -> any HttpTransport {
        var configuration = CurlTransport.Configuration()
        if let responseLimit { configuration.responseLimit = responseLimit }
        if let connectionsPerHost { configuration.connectionsPerHost = connectionsPerHost }
        return CurlTransport(configuration: configuration)
    }
}

extension BrokenExchange {
    /// What ends the process on Linux where Foundation is given it.
    static let own = [
        BrokenExchange("half a header", .connectionLost, answering: "HTTP/1.1 200 OK\r\nX-Na")
    ]
}
