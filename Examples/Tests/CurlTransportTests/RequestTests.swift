import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("Requests on the wire", .timeLimit(.minutes(10)), .whereAvailable)
struct RequestTests {
    @Test("header fields in their order, several of one name as several lines, cookies as one")
    func order() async throws {
        let header = HttpHeader([
            .init(name: "X-B", value: "1"), .init(name: "Cookie", value: "a=1"), .init(name: "X-A", value: "2"),
            .init(name: "x-b", value: "3"), .init(name: "cookie", value: "b=2"), .init(name: "X-Empty", value: ""),
            .init(name: "X-Blank", value: " "), .init(name: "Content-Type", value: "text/plain"),
        ])
        let lines = try await received(.post, header: header, body: .data(Data("x".utf8))).headerLines
        let own = lines.filter { $0.hasPrefix("X-") || $0.hasPrefix("x-") || $0.lowercased().hasPrefix("co") }
        #expect(
            own.map { $0.trimmingCharacters(in: .whitespaces) } == [
                "X-B: 1", "Cookie: a=1; b=2", "X-A: 2", "x-b: 3", "X-Empty:", "X-Blank:", "Content-Type: text/plain",
                "Content-Length: 1",
            ]
        )
    }

    @Test(
        "F11: Host, Content-Length, Transfer-Encoding and Expect are refused, for the transport alone writes them",
        arguments: ["Host", "content-length", "Transfer-Encoding", "EXPECT"] as [HttpHeader.Name]
    )
    func ownFields(name: HttpHeader.Name) async throws {
        await #expect(throws: HttpRequest.Invalid.reservedHeader(name)) {
            _ = try await received(.post, header: [name: "1"], body: .data(Data("four".utf8)))
        }
    }

    @Test(
        "user and password of the URL are not sent, wherever they hide",
        arguments: ["user:hunter2@", "a%40b:c@", "@"]
    )
    func userInfo(_ user: String) async throws {
        let request = try await received(.get, user: user)
        #expect(request.values(of: "Authorization").isEmpty)
        #expect(request.values(of: "Host").count == 1)
    }

    @Test("paths and queries as they are", arguments: ["/a/../b/./c", "/a//b", "/%2e%2E/x", "/?a=b&c=%20#f", "?q=1"])
    func target(_ target: String) async throws {
        let request = try await received(.get, target: target)
        let sent = target.hasPrefix("?") ? "/" + target : target
        #expect(request.target == sent.split(separator: "#")[0])
    }

    @Test("a POST without body has a length of 0, a GET and a DELETE have none")
    func lengths() async throws {
        #expect(try await received(.post).values(of: "Content-Length") == ["0"])
        #expect(try await received(.put).values(of: "Content-Length") == ["0"])
        #expect(try await received(.get).values(of: "Content-Length").isEmpty)
        #expect(try await received(.delete).values(of: "Content-Length").isEmpty)
        #expect(try await received(.post).values(of: "Content-Type").isEmpty)
    }

    @Test(
        "control characters in a value are refused, and nothing is sent",
        arguments: ["a\u{1}", "a\u{7F}", "a\r\nX: y", "a\0b"]
    )
    func controls(value: String) async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            await #expect(throws: HttpRequest.Invalid.headerValue(name: "X-Value")) {
                try await send(.get, server.url, header: ["X-Value": value])
            }
            #expect(await server.connectionCount == 0)
        }
    }

    @Test("a stream goes with its length if it has one, and in chunks if not")
    func streams() async throws {
        let chunks: @Sendable () -> AsyncThrowingStream<Data, any Error> = {
            AsyncThrowingStream { source in
                for text in ["one ", "two ", "three"] { source.yield(Data(text.utf8)) }
                source.finish()
            }
        }
        let known = try await received(.post, body: .stream(HttpBodyStream(length: 13, from: chunks)))
        #expect(known.values(of: "Content-Length") == ["13"])
        #expect(known.body == Data("one two three".utf8))
        let unknown = try await received(.post, body: .stream(HttpBodyStream(from: chunks)))
        #expect(unknown.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(unknown.body == Data("one two three".utf8))
    }

    @Test("a stream with another length than it was declared with fails", arguments: [0, 12, 14] as [Int64])
    func wrongLength(length: Int64) async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let body = HttpBodyStream(
                length: length,
                from: {
                    AsyncThrowingStream<Data, any Error> { source in
                        source.yield(Data("one two three".utf8))
                        source.finish()
                    }
                }
            )
            let failure = try await failure { try await send(.post, server.url, body: .stream(body)) }
            #expect(failure?.code == .requestBodyStreamExhausted)
        }
    }

    @Test("a stream that comes once is not spent on a server that cannot be reached")
    func unspent() async throws {
        try await ScriptedServer.whileRefusing { server in
            let body = HttpBodyStream(once: AsyncThrowingStream<Data, any Error> { $0.finish() })
            let failure = try await failure { try await send(.post, server.url, body: .stream(body)) }
            #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
            #expect(body.isReplayable)
        }
    }

    @Test(
        "an answer that overtakes a stream is the response, however it ends, and the rest is not sent",
        arguments: [
            ["Content-Length: 2\r\n\r\nno"], ["Connection: close\r\nContent-Length: 2\r\n\r\nno"],
            ["Connection: close\r\nContent-Length: 2\r\n\r\n", "no"],
            ["Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nno\r\n", "0\r\n\r\n"],
            ["Connection: close\r\n\r\n", "no", ""],
        ]
    )
    func overtaken(parts: [String]) async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.write("HTTP/1.1 413 Content Too Large\r\n")
            for part in parts {
                // Without a length, the end of the connection is that of the body.
                if part.isEmpty { return }
                try await connection.write(part)
                // Time to be paused in between.
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(await connection.readToEnd() == Data())
        } whileOpen: { server in
            let (never, _) = AsyncStream.makeStream(of: Data.self)
            let body = HttpBodyStream(
                once: AsyncThrowingStream<Data, any Error> {
                    for await chunk in never { return chunk }
                    return nil
                }
            )
            let response = try await send(.post, server.url, body: .stream(body))
            #expect(response.status == 413)
            #expect(response.text == "no")
        }
    }

    @Test(
        "an answer that is whole is the response, though the connection is lost under the rest of the body",
        arguments: [
            (HttpMethod.post, "200 OK", "Content-Length: 2\r\n\r\nok", "ok"), (.put, "204 No Content", "\r\n", ""),
        ]
    )
    func lostBehindAnswer(method: HttpMethod, status: String, rest: String, text: String) async throws {
        for isStreamed in [false, true] {
            try await ScriptedServer.run { connection in
                try await connection.readHead()
                try await connection.write("HTTP/1.1 \(status)\r\n\(rest)")
                // Until the client has read it, which a reset would take away: more than the system's buffers hold.
                try await connection.skip(20_000_000)
                await connection.reset()
            } whileOpen: { server in
                let data = Data(count: 32_000_000)
                let stream = HttpBodyStream {
                    AsyncStream { chunks in
                        for _ in 0..<32 { chunks.yield(Data(count: 1_000_000)) }
                        chunks.finish()
                    }
                }
                let body = isStreamed ? HttpBody.Payload.stream(stream) : .data(data)
                let response = try await send(method, server.url, body: body)
                #expect("\(response.status)" == status.prefix(3))
                #expect(response.text == text)
            }
        }
    }

    @Test(
        "a body that is lost in the middle may have been executed, over TLS as well",
        .enabled(if: PythonTlsServer.isAvailable, "needs Python and openssl"),
        arguments: [20_000, 65_000, 1_000_000]
    )
    func lostOverTls(count: Int) async throws {
        // OpenSSL may have sent the first parts of what it was given when it asks to be given all of it once more.
        try await PythonTlsServer.run(.reset) { server in
            let configuration = CurlTransport.Configuration(
                connectTimeout: .seconds(120),
                trust: .init(roots: server.certificate)
            )
            let transport = CurlTransport(configuration: configuration)
            let failure = try await failure {
                try await send(.post, server.url, body: .data(Data(count: count)), through: transport)
            }
            #expect(failure == .connectionLost)
        }
    }

    @Test("a server that leaves without an answer ends a stream that waits for its next chunk", arguments: [0, 3])
    func leftWhileWaiting(count: Int) async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            // With its size before it, and two ends of lines.
            if count > 0 { _ = try await connection.read(1 + 2 + count + 2) }
            await connection.close()
        } whileOpen: { server in
            let (chunks, give) = AsyncStream.makeStream(of: Data.self)
            if count > 0 { give.yield(Data(count: count)) }
            let body = HttpBodyStream(once: chunks)
            let failure = try await failure { try await send(.post, server.url, body: .stream(body)) }
            #expect(failure == .connectionLost)
            give.finish()
        }
    }
}

/// The request as the server sees it.
private func received(
    _ method: HttpMethod,
    user: String = "",
    target: String = "/",
    header: HttpHeader = [:],
    body: HttpBody.Payload = .empty
) async throws -> RecordedRequest {
    try await ScriptedServer.run { connection in
        _ = try await connection.readRequest()
        try await connection.respond()
    } whileOpen: { server in
        let url = try #require(URL(string: "http://\(user)127.0.0.1:\(server.port)\(target)"))
        _ = try await send(method, url, header: header, body: body)
        return try #require(await server.requests.first)
    }
}
