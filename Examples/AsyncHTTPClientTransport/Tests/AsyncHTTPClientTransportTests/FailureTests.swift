import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A failure says what the server may have done", .timeLimit(.minutes(10)))
struct FailureTests {
    private let body = HttpBody.Payload.data(Data("x".utf8))

    @Test("a connection that is refused: not sent")
    func refused() async throws {
        let url = try await ScriptedServer.run { _ in
        } whileOpen: {
            $0.url
        }
        let failure = try await failure { try await send(.post, url, body: body) }
        #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
    }

    @Test(
        "a host that does not exist, a scheme that is not HTTP, a literal where nobody listens: not sent",
        arguments: [
            ("http://nautilus.invalid/", URLError.Code.cannotFindHost),
            ("ftp://127.0.0.1/", .unsupportedURL),
            ("http:///path", .badURL),
            ("http://[::1]:1/", .cannotConnectToHost),
        ]
    )
    func unusable(text: String, code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        let request = HttpRequest(url: url)
        let known = try #require(URL(string: "http://127.0.0.1"))
        let failure = try await failure {
            try await AsyncHTTPClientTransport().send(request, context: context(of: known))
        }
        #expect(failure == Failure(code: code, delivery: .notSent))
    }

    @Test(
        "a certificate that is not trusted: not sent",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func untrustedCertificate() async throws {
        try await UntrustedTlsServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let failure = try await failure { try await send(.post, url, body: body) }
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

    @Test("a connection that is closed in the middle of the handshake: not sent")
    func brokenHandshake() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let url = server.url(scheme: "https", host: "127.0.0.1")
            let failure = try await failure { try await send(.post, url, body: body) }
            #expect(failure?.delivery == .notSent)
        }
    }

    @Test("an exchange that the server breaks: maybe executed", arguments: BrokenExchange.all)
    func broken(exchange: BrokenExchange) async throws {
        try await ScriptedServer.run(exchange.script) { server in
            let failure = try await failure {
                try await send(.post, server.url, body: .data(Data(count: exchange.bodyCount)))
            }
            #expect(failure == Failure(code: exchange.code, delivery: .maybeExecuted))
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("a stream that has been read: not sent")
    func spent() async throws {
        let stream = HttpBodyStream(once: AsyncThrowingStream<Data, any Error> { $0.finish() })
        _ = try await stream.collected(limit: 1)
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let failure = try await failure { try await send(.post, server.url, body: .stream(stream)) }
            #expect(failure == Failure(code: .requestBodyStreamExhausted, delivery: .notSent))
            #expect(await server.connectionCount == 0)
        }
    }

    @Test("a stream that is shorter or longer than its length: maybe executed", arguments: [Int64(2), 4])
    func wrongLength(length: Int64) async throws {
        let stream = HttpBodyStream(
            length: length,
            from: {
                AsyncThrowingStream { source in
                    source.yield(Data("abc".utf8))
                    source.finish()
                }
            }
        )
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let failure = try await failure { try await send(.post, server.url, body: .stream(stream)) }
            #expect(failure == Failure(code: .requestBodyStreamExhausted, delivery: .maybeExecuted))
        }
    }

    @Test(
        "a request that must not go on the wire is refused before anything is sent",
        arguments: [
            (HttpRequest.with(method: "GE T"), InvalidRequest.method),
            (.with(header: ["X Name": "a"]), .headerName),
            (.with(header: ["X-Name": "a\r\nX-Other: b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\0b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\u{1}b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\u{7F}b"]), .headerValue(name: "X-Name")),
            (.with(body: .data(Data("x".utf8))), .bodyNotAllowed(.get)),
        ]
    )
    func invalid(request: HttpRequest, error: InvalidRequest) async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            var request = request
            request.url = server.url
            await #expect(throws: error) {
                try await AsyncHTTPClientTransport().send(request, context: context(of: server.url))
            }
            #expect(await server.connectionCount == 0)
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

extension HttpRequest {
    fileprivate static func with(
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: HttpBody.Payload = .empty
    ) -> HttpRequest {
        HttpRequest(method: method, url: URL(fileURLWithPath: "/"), header: header, body: body)
    }
}
