import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite(
    "Every failure on the wire becomes a typed error that says what the server may have done",
    .timeLimit(.minutes(2))
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

    @Test("a host that does not exist: not sent")
    func unknownHost() async throws {
        let url = try #require(URL(string: "http://nautilus.invalid/"))
        #expect(try await failure { try await send(url) } == Failure(code: .cannotFindHost, delivery: .notSent))
    }

    @Test("an IPv6 literal that cannot be reached, or a scheme that is not HTTP: not sent")
    func unusableUrl() async throws {
        let scheme = try #require(URL(string: "ftp://127.0.0.1/"))
        #expect(try await failure { try await send(scheme) } == Failure(code: .unsupportedURL, delivery: .notSent))
        let literal = try #require(URL(string: "http://[::1]:1/"))
        #expect(try await failure { try await send(literal) }?.delivery == .notSent)
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

    @Test("a reset before the answer: maybe executed", arguments: ["127.0.0.1", "localhost"])
    func reset(host: String) async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            await connection.reset()
        } whileOpen: { server in
            let url = server.url(scheme: "http", host: host)
            let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
            #expect(failure == .connectionLost)
            #expect(await server.requests.count == 1)
        }
    }

    @Test("a reset while a large body is on its way: maybe executed")
    func resetWhileSending() async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            await connection.reset()
        } whileOpen: { server in
            let failure = try await failure {
                try await send(.post, server.url, body: .data(Data(count: 8_000_000)))
            }
            #expect(failure == .connectionLost)
        }
    }

    @Test("a reset in the middle of the body: maybe executed")
    func resetWhileReceiving() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
            await connection.reset()
        } whileOpen: { server in
            let failure = try await failure { try await send(server.url) }
            #expect(failure == .connectionLost)
        }
    }

    @Test(
        "an answer that ends early, and none at all: maybe executed",
        arguments: [
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        ]
    )
    func endsEarly(answered bytes: String) async throws {
        #expect(try await failure { try await answer(bytes) } == .connectionLost)
    }

    @Test(
        "an answer that is not HTTP: maybe executed",
        arguments: [
            "220 mail ready\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 9999 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\n\r\n",
        ]
    )
    func notHttp(answered bytes: String) async throws {
        #expect(try await failure { try await answer(bytes) } == .badResponse)
    }

    @Test("a body that is not compressed as announced: maybe executed")
    func notCompressed() async throws {
        let failure = try await failure {
            try await answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd")
        }
        #expect(failure == Failure(code: .cannotDecodeContentData, delivery: .maybeExecuted))
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
