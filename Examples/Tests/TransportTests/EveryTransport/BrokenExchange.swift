import Foundation
import Nautilus
import ScriptedSockets
import Testing

/// One way in which a server fails an exchange, and the failure that it becomes.
struct BrokenExchange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let failure: Failure
    /// The bytes of the request's body.
    let bodyCount: Int
    let script: ScriptedServer.Script

    init(
        _ name: String,
        _ failure: Failure,
        bodyCount: Int = 1,
        script: @escaping ScriptedServer.Script
    ) {
        (self.testDescription, self.failure, self.bodyCount, self.script) = (name, failure, bodyCount, script)
    }

    /// The server reads the request, answers with `bytes` and closes the connection.
    init(_ name: String, _ failure: Failure, answering bytes: Data) {
        self.init(name, failure) { connection in
            _ = try await connection.readRequest()
            try await connection.write(bytes)
        }
    }

    init(_ name: String, _ failure: Failure, answering text: String) {
        self.init(name, failure, answering: Data(text.utf8))
    }

    static let all = resets + earlyEnds + invalidAnswers + own

    private static let resets = [
        BrokenExchange("a reset before the answer", .connectionLost) { connection in
            _ = try await connection.readRequest()
            await connection.reset()
        },
        BrokenExchange("a reset while a large body is on its way", .connectionLost, bodyCount: 8_000_000) {
            connection in
            try await connection.readHead()
            await connection.reset()
        },
        BrokenExchange("a reset in the middle of the answer's body", .connectionLost) { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
            await connection.reset()
        },
    ]

    private static let earlyEnds = [
        BrokenExchange("no answer", .connectionLost, answering: ""),
        BrokenExchange(
            "a body that is too short",
            .connectionLost,
            answering: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"
        ),
        BrokenExchange(
            "a chunk that is too short",
            .connectionLost,
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"
        ),
    ]

    private static let invalidAnswers = [
        BrokenExchange("another protocol", .badResponse, answering: "220 mail ready\r\n\r\n"),
        BrokenExchange("a field without colon", .badResponse, answering: "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
        BrokenExchange("a length in words", .badResponse, answering: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
        BrokenExchange("a length below 0", .badResponse, answering: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        BrokenExchange(
            "a chunk without size",
            .badResponse,
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
        BrokenExchange(
            "a body that is not compressed as announced",
            Failure(code: .cannotDecodeContentData, delivery: .maybeExecuted),
            answering: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"
        ),
    ]
}
