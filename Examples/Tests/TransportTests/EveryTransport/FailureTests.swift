import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite(
    "Typed errors for failures on the wire",
    .timeLimit(.minutes(10)),
    .whereAvailable
)
struct FailureTests {
    @Test("a connection that is refused: not sent")
    func refused() async throws {
        try await ScriptedServer.whileRefusing { server in
            let failure = try await failure { try await send(.post, server.url, body: .data(Data("x".utf8))) }
            #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
        }
    }

    @Test(
        "a certificate that is not trusted: not sent",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func untrustedCertificate() async throws {
        try await UntrustedTlsServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
            #expect(failure == Failure(code: .serverCertificateUntrusted, delivery: .notSent))
        }
    }

    @Test("a server that speaks no TLS: not sent")
    func noTls() async throws {
        try await ScriptedServer.run { connection in
            try await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            try await connection.hang()
        } whileOpen: { server in
            let failure = try await failure { try await send(.get, server.url(scheme: "https", host: "127.0.0.1")) }
            #expect(failure == Failure(code: .secureConnectionFailed, delivery: .notSent))
        }
    }

    @Test(
        "an exchange that the server breaks: maybe executed",
        arguments: BrokenExchange.all,
        ["127.0.0.1", "localhost"]
    )
    func broken(exchange: BrokenExchange, host: String) async throws {
        try await ScriptedServer.run(exchange.script) { server in
            let url = server.url(scheme: "http", host: host)
            let failure = try await failure {
                try await send(.post, url, body: .data(Data(count: exchange.bodyCount)))
            }
            #expect(failure == exchange.failure)
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("an error names neither URL nor query nor header")
    func keepsSecrets() async throws {
        let url = try #require(URL(string: "http://nautilus.invalid/path?token=hunter2"))
        let error = await #expect(throws: TransportError.self) {
            try await send(.get, url, header: ["Authorization": "Bearer hunter2"])
        }
        let text = "\(String(describing: error)) \(String(reflecting: error)) \(error?.localizedDescription ?? "")"
        #expect(!text.contains("hunter2"))
        #expect(!text.contains("nautilus"))
    }
}
