import Foundation
import ScriptedSockets
import Testing

/// One way in which a server fails an exchange, and the failure that it becomes.
struct BrokenExchange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: URLError.Code
    /// The bytes of the request's body.
    let bodyCount: Int
    let script: ScriptedServer.Script

    private init(
        _ name: String,
        _ code: URLError.Code,
        bodyCount: Int = 1,
        script: @escaping ScriptedServer.Script
    ) {
        (self.testDescription, self.code, self.bodyCount, self.script) = (name, code, bodyCount, script)
    }

    /// The server reads the request, answers with `text` and closes the connection.
    private init(_ name: String, _ code: URLError.Code, answering text: String) {
        self.init(name, code) { connection in
            _ = try await connection.readRequest()
            try await connection.write(text)
        }
    }

    static let all = [
        BrokenExchange("a reset before the answer", .networkConnectionLost) { connection in
            _ = try await connection.readRequest()
            await connection.reset()
        },
        BrokenExchange("a reset while a large body is on its way", .networkConnectionLost, bodyCount: 8_000_000) {
            connection in
            try await connection.readHead()
            await connection.reset()
        },
        BrokenExchange("a reset in the middle of the answer's body", .networkConnectionLost) { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
            await connection.reset()
        },
        BrokenExchange("no answer", .networkConnectionLost, answering: ""),
        BrokenExchange("half a header", .networkConnectionLost, answering: "HTTP/1.1 200 OK\r\nX-Na"),
        BrokenExchange(
            "a body that is too short",
            .networkConnectionLost,
            answering: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"
        ),
        BrokenExchange(
            "a chunk that is too short",
            .networkConnectionLost,
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"
        ),
        BrokenExchange("another protocol", .badServerResponse, answering: "220 mail ready\r\n\r\n"),
        BrokenExchange(
            "a field without colon",
            .badServerResponse,
            answering: "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"
        ),
        BrokenExchange(
            "a length in words",
            .badServerResponse,
            answering: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"
        ),
        BrokenExchange(
            "a length below 0",
            .badServerResponse,
            answering: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"
        ),
        BrokenExchange(
            "a chunk without size",
            .badServerResponse,
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
        BrokenExchange(
            "a body that is not compressed as announced",
            .cannotDecodeContentData,
            answering: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"
        ),
    ]
}
