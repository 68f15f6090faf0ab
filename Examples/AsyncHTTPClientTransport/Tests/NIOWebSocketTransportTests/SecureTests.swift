import Foundation
import NIOSSL
import NIOWebSocketTransport
import Nautilus
import ScriptedSockets
import Testing

@Suite(
    "A socket over TLS",
    .enabled(if: SecureFront.openssl != nil, "needs openssl"),
    .timeLimit(.minutes(10))
)
struct SecureTests {
    private static func transport(trusting front: SecureFront) -> NIOWebSocketTransport {
        let certificate = front.certificate
        return NIOWebSocketTransport(
            configuration: .init { $0.trustRoots = .certificates([certificate]) }
        )
    }

    private static func url(_ front: SecureFront, host: String) throws -> URL {
        try #require(URL(string: "wss://\(host):\(front.port)/chat"))
    }

    @Test("with a certificate that is trusted, messages go both ways until the server leaves")
    func trusted() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            let frame = try await connection.readFrame()
            try await connection.write(RawFrame(firstByte: frame.firstByte, payload: frame.payload))
        } whileOpen: { server in
            try await SecureFront.run(before: server.port) { front in
                let url = try Self.url(front, host: "localhost")
                let header: HttpHeader = ["Authorization": "Bearer token-1"]
                let connection = try await openSocket(url, header: header, through: Self.transport(trusting: front))
                let message = WebSocketMessage.data(Data(repeating: 7, count: 300_000))
                try await connection.send(message)
                #expect(try await connection.receive() == message)
                let failure = try await failed { try await connection.receive() }
                #expect(failure == Failure(code: .networkConnectionLost, delivery: .maybeExecuted))
                let request = await server.requests.first
                #expect(request?.values(of: "Authorization") == ["Bearer token-1"])
                #expect(request?.values(of: "Host") == ["localhost:\(front.port)"])
            }
        }
    }

    @Test("messages that come with the 101 are heard, even when the server leaves at once")
    func leaving() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: .text("a"), .close(1000))
        } whileOpen: { server in
            try await SecureFront.run(before: server.port) { front in
                let url = try Self.url(front, host: "localhost")
                let connection = try await openSocket(url, through: Self.transport(trusting: front))
                #expect(try await connection.receive() == .text("a"))
                await #expect(throws: WebSocketClosure(.normalClosure)) { try await connection.receive() }
            }
        }
    }

    @Test("a certificate for another name is refused, before anything is sent")
    func otherName() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
        } whileOpen: { server in
            try await SecureFront.run(before: server.port) { front in
                let url = try Self.url(front, host: "127.0.0.1")
                let failure = try await failed {
                    try await openSocket(url, through: Self.transport(trusting: front))
                }
                #expect(failure == Failure(code: .serverCertificateUntrusted, delivery: .notSent))
                #expect(await server.requests.isEmpty)
            }
        }
    }

    @Test("who is not trusted is refused by the default transport")
    func untrusted() async throws {
        try await ScriptedServer.run { connection in
            try await connection.hang()
        } whileOpen: { server in
            try await SecureFront.run(before: server.port) { front in
                let url = try Self.url(front, host: "localhost")
                let failure = try await failed { try await openSocket(url) }
                #expect(failure == Failure(code: .serverCertificateUntrusted, delivery: .notSent))
            }
        }
    }
}
