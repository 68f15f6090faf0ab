import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Requests that the client does not send", .timeLimit(.minutes(10)))
struct ClientFailureTests {
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
            try await AsyncHTTPClientTransport().send(request, context: TransportContext())
        }
        #expect(failure == Failure(code: code, delivery: .notSent))
    }

    @Test("a connection that is closed in the middle of the handshake: not sent")
    func brokenHandshake() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let url = server.url(scheme: "https", host: "127.0.0.1")
            let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
            #expect(failure?.delivery == .notSent)
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
            (HttpRequest.with(method: "GE T"), HttpRequest.Invalid.method),
            (.with(header: ["X Name": "a"]), .headerName),
            (.with(header: ["X-Name": "a\r\nX-Other: b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\0b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\u{1}b"]), .headerValue(name: "X-Name")),
            (.with(header: ["X-Name": "a\u{7F}b"]), .headerValue(name: "X-Name")),
            (.with(body: .data(Data("x".utf8))), .bodyNotAllowed(.get)),
        ]
    )
    func invalid(request: HttpRequest, error: HttpRequest.Invalid) async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            var request = request
            request.url = server.url
            await #expect(throws: error) {
                try await AsyncHTTPClientTransport().send(request, context: TransportContext())
            }
            #expect(await server.connectionCount == 0)
        }
    }
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
