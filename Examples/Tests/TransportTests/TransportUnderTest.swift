import Foundation
import Nautilus
import NautilusURLSession

/// The transport that the suites of every transport are run on here.
enum TransportUnderTest {
    /// Whether it can be used on this machine.
    static let isAvailable = true

    /// One with connections of its own; nil for the default.
    static func make(responseLimit: Int? = nil, connectionsPerHost: Int? = nil) -> any HttpTransport {
        var configuration = URLSessionTransport.Configuration()
        if let responseLimit { configuration.responseLimit = responseLimit }
        if let connectionsPerHost { configuration.connectionsPerHost = connectionsPerHost }
        return URLSessionTransport(configuration: configuration)
    }
}

extension BrokenExchange {
    /// The exchanges that Foundation refuses beyond the others.
    static let own =
        [
            BrokenExchange("status 9999", .badResponse, answering: "HTTP/1.1 9999 OK\r\nContent-Length: 0\r\n\r\n"),
            BrokenExchange("a zero byte in a field", .badResponse, answering: "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\n\r\n"),
        ] + strictReadings

    /// Answers that RFC 9110 and 9112 allow, or ask clients to take, and that Foundation on Linux refuses.
    private static var strictReadings: [BrokenExchange] {
        #if os(Linux)
            let end = "\r\nContent-Length: 2\r\n\r\nhi"
            return [
                BrokenExchange(
                    "no blank after a colon",
                    .badResponse,
                    answering: "HTTP/1.1 200 OK\r\nName:value" + end
                ),
                BrokenExchange("no reason phrase", .badResponse, answering: "HTTP/1.1 200" + end),
                BrokenExchange(
                    "a field in Latin-1",
                    .badResponse,
                    answering: Data("HTTP/1.1 200 OK\r\nX-Name: caf".utf8) + [0xE9] + Data(end.utf8)
                ),
            ]
        #else
            return []
        #endif
    }
}
