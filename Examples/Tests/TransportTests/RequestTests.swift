import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Requests on the wire", .timeLimit(.minutes(10)))
struct RequestTests {
    @Test(
        "F11: Host, Content-Length, Transfer-Encoding and Expect are refused, for the transport alone writes them",
        arguments: ["Host", "content-length", "Transfer-Encoding", "EXPECT"] as [HttpHeader.Name]
    )
    func ownFields(name: HttpHeader.Name) async throws {
        await #expect(throws: HttpRequest.Invalid.reservedHeader(name)) {
            _ = try await received(.post, header: [name: "1"], body: "four")
        }
    }

    @Test("user and password of the URL are not sent")
    func userInfo() async throws {
        let request = try await received(.get, userInfo: "user:hunter2")
        #expect(request.values(of: "Authorization").isEmpty)
    }

    @Test("a POST body without a type is not called a form")
    func contentType() async throws {
        let unnamed = try await received(.post, body: "x")
        #expect(unnamed.values(of: "Content-Type") == ["application/octet-stream"])
        let named = try await received(.post, header: ["content-type": "text/plain"], body: "x")
        #expect(named.values(of: "Content-Type") == ["text/plain"])
        #expect(try await received(.post).values(of: "Content-Type").isEmpty)
    }

    @Test("several cookie fields are joined as cookies, other lists by commas")
    func repeatedFields() async throws {
        let header = HttpHeader([
            .init(name: "Cookie", value: "a=1"), .init(name: "cookie", value: "b=2"),
            .init(name: "Accept", value: "text/plain"), .init(name: "accept", value: "text/html"),
        ])
        let request = try await received(.get, header: header)
        #expect(request.values(of: "Cookie") == ["a=1; b=2"])
        #expect(request.values(of: "Accept") == ["text/plain, text/html"])
    }

    @Test("a line break in a value, a name or the method is refused, and nothing is sent")
    func lineBreak() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            for value in ["a\r\nX-Injected: yes", "a\nX-Injected: yes", "a\rb", "a\0b"] {
                await #expect(throws: HttpRequest.Invalid.headerValue(name: "X-Value")) {
                    try await send(.get, server.url, header: ["X-Value": value])
                }
            }
            await #expect(throws: HttpRequest.Invalid.headerName) {
                try await send(.get, server.url, header: ["X-Value: a\r\nX-Injected": "yes"])
            }
            await #expect(throws: HttpRequest.Invalid.method) {
                try await send("GET / HTTP/1.1\r\nX-Injected: yes", server.url)
            }
            #expect(await server.connectionCount == 0)
        }
    }

    @Test("a body stream that was read before is refused, and nothing is sent")
    func streamReadBefore() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let stream = HttpBodyStream(once: AsyncThrowingStream { $0.finish() })
            _ = try stream.chunks()
            let failure = try await failure { try await send(.post, server.url, body: .stream(stream)) }
            #expect(failure == Failure(code: .requestBodyStreamExhausted, delivery: .notSent))
            #expect(await server.connectionCount == 0)
        }
    }

    @Test("no Expect: the body follows at once")
    func expect() async throws {
        let request = try await received(.post, body: String(repeating: "x", count: 2_000_000))
        #expect(request.values(of: "Expect").isEmpty)
        #expect(request.body.count == 2_000_000)
    }

    @Test("a body stream arrives whole, with its length")
    func stream() async throws {
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            for text in ["one ", "two ", "three"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let request = try await received(.post, payload: .stream(HttpBodyStream(once: chunks)))
        #expect(request.body == Data("one two three".utf8))
        #expect(request.values(of: "Content-Length") == ["13"])
    }
}

/// The request as the server sees it.
private func received(
    _ method: HttpMethod,
    userInfo: String? = nil,
    header: HttpHeader = [:],
    body: String? = nil,
    payload: HttpBody.Payload? = nil
) async throws -> RecordedRequest {
    try await ScriptedServer.run { connection in
        _ = try await connection.readRequest()
        try await connection.respond()
    } whileOpen: { server in
        let authority = (userInfo.map { $0 + "@" } ?? "") + "127.0.0.1:\(server.port)"
        let url = try #require(URL(string: "http://\(authority)/"))
        let payload = payload ?? body.map { .data(Data($0.utf8)) } ?? .empty
        _ = try await send(method, url, header: header, body: payload)
        return try #require(await server.requests.first)
    }
}
