import Foundation
import Nautilus
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("The delivery of a failed opening", .whereAvailable, .timeLimit(.minutes(10)))
struct FailureTests {
    @Test("a connection that is refused: not sent")
    func refused() async throws {
        try await ScriptedServer.whileRefusing { server in
            let failure = try await failed { try await openSocket(server.socketUrl) }
            #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
        }
    }

    @Test(
        "a host that does not exist, a scheme that is not one of web sockets, no host: not sent",
        arguments: [
            ("ws://nautilus.invalid/", URLError.Code.cannotFindHost),
            ("http://127.0.0.1/", .unsupportedURL),
            ("ws:///path", .badURL),
            ("ws://[::1]:1/", .cannotConnectToHost),
        ]
    )
    func unusable(text: String, code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        #expect(try await failed { try await openSocket(url) } == Failure(code: code, delivery: .notSent))
    }

    @Test("a server that leaves without an answer, or speaks something else: maybe executed")
    func noAnswer() async throws {
        let answers = [("", URLError.Code.networkConnectionLost), ("220 mail ready\r\n\r\n", .badServerResponse)]
        for (text, code) in answers {
            try await ScriptedServer.run { connection in
                _ = try await connection.readRequest()
                try await connection.write(text)
            } whileOpen: { server in
                let failure = try await failed { try await openSocket(server.socketUrl) }
                #expect(failure == Failure(code: code, delivery: .maybeExecuted))
            }
        }
    }

    @Test(
        "a request that must not go on the wire is refused before anything is sent",
        arguments: [
            (["X Name": "a"], .headerName),
            (["X-Name": "a\r\nX-Other: b"], .headerValue(name: "X-Name")),
            (["X-Name": "a\u{1}b"], .headerValue(name: "X-Name")),
        ] as [(HttpHeader, HttpRequest.Invalid)]
    )
    func invalid(header: HttpHeader, error: HttpRequest.Invalid) async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            await #expect(throws: error) { try await openSocket(server.socketUrl, header: header) }
            #expect(await server.connectionCount == 0)
        }
    }

    @Test("a server that speaks no TLS: not sent")
    func noTls() async throws {
        try await ScriptedServer.run { connection in
            try await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            try await connection.hang()
        } whileOpen: { server in
            let url = server.url(scheme: "wss", host: "127.0.0.1")
            let failure = try await failed { try await openSocket(url) }
            #expect(failure == Failure(code: .secureConnectionFailed, delivery: .notSent))
        }
    }

    @Test("a connection that is closed in the middle of the TLS handshake: not sent")
    func brokenTls() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let url = server.url(scheme: "wss", host: "127.0.0.1")
            let failure = try await failed { try await openSocket(url) }
            #expect(failure?.delivery == .notSent)
        }
    }

    @Test(
        "a certificate that is not trusted: not sent, and not tried again",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func untrusted() async throws {
        try await UntrustedTlsServer.run { server in
            let url = try #require(URL(string: "wss://127.0.0.1:\(server.port)/"))
            let failure = try await failed { try await openSocket(url) }
            #expect(failure == Failure(code: .serverCertificateUntrusted, delivery: .notSent))
            let error = await #expect(throws: HttpError.self) {
                _ = try await Chat().schedule(with: ChatService(url.absoluteString))
            }
            #expect(error?.kind == .transport(.serverCertificateUntrusted))
            #expect(error?.delivery == .notSent)
            #expect(error?.attempt == 1)
        }
    }

    @Test("an error names neither URL nor query nor header")
    func keepsSecrets() async throws {
        let url = try #require(URL(string: "ws://nautilus.invalid/path?token=hunter2"))
        let error = await #expect(throws: TransportError.self) {
            try await openSocket(url, header: ["Authorization": "Bearer hunter2"])
        }
        let text = "\(String(describing: error)) \(String(reflecting: error)) \(error?.localizedDescription ?? "")"
        #expect(!text.contains("hunter2"))
        #expect(!text.contains("nautilus"))
    }
}
