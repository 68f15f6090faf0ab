import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite(
    "Every failure on the wire becomes a typed error that says what the server may have done",
    .timeLimit(.minutes(10))
)
struct FailureTests {
    @Test("a connection that is refused: not sent")
    func refused() async throws {
        let url = try await ScriptedServer.run { _ in
        } whileOpen: {
            $0.url
        }
        let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
        #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
    }

    @Test(
        "a host that does not exist, or a scheme that is not HTTP: not sent",
        arguments: [("http://nautilus.invalid/", URLError.Code.cannotFindHost), ("ftp://127.0.0.1/", .unsupportedURL)]
    )
    func unusableUrl(text: String, code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        #expect(try await failure { try await send(url) } == Failure(code: code, delivery: .notSent))
    }

    #if os(Linux)
        // Foundation refuses every IPv6 literal there, whoever listens; should that end, these become "cannot connect".
        @Test(
            "an IPv6 literal, where nobody listens or no way leads to: not sent",
            arguments: ["http://[::1]:1/", "http://[2001:db8::1]/"]
        )
        func literal(text: String) async throws {
            let url = try #require(URL(string: text))
            let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
            #expect(failure == Failure(code: .badURL, delivery: .notSent))
        }
    #else
        @Test("an IPv6 literal at which nobody listens: not sent")
        func literal() async throws {
            let url = try #require(URL(string: "http://[::1]:1/"))
            #expect(
                try await failure { try await send(url) } == Failure(code: .cannotConnectToHost, delivery: .notSent)
            )
        }
    #endif

    @Test("a GET with a body, which Foundation does not send, is refused with the reason")
    func getWithBody() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            await #expect(throws: InvalidRequest.bodyNotAllowed(.get)) {
                try await send(.get, server.url, body: .data(Data("x".utf8)))
            }
            #expect(await server.connectionCount == 0)
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
            let failure = try await failure { try await send(server.url(scheme: "https", host: "127.0.0.1")) }
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
            try await send(url, header: ["Authorization": "Bearer hunter2"])
        }
        let text = "\(String(describing: error)) \(String(reflecting: error)) \(error?.localizedDescription ?? "")"
        #expect(!text.contains("hunter2"))
        #expect(!text.contains("nautilus"))
    }
}

/// GET, as most of the tests send.
private func send(_ url: URL, header: HttpHeader = [:]) async throws -> HttpResponse<Data> {
    try await send(.get, url, header: header)
}
