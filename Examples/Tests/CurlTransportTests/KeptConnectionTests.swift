import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("A connection that is kept", .timeLimit(.minutes(10)), .whereAvailable)
struct KeptConnectionTests {
    private let transport = TransportUnderTest.make()

    // Thousands of times, since an answer that another thread has read already must not be taken for one that was not asked
    // for.
    @Test("a kept connection is used again", arguments: [5, 5_000])
    func reused(count: Int) async throws {
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        } whileOpen: { server in
            for _ in 0..<count { _ = try await send(.get, server.url, through: transport) }
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("a POST on a kept connection that closes is sent once, and fails as maybeExecuted")
    func closedUnderPost() async throws {
        let (failure, requests) = try await closedUnder(.post)
        #expect(failure == .connectionLost)
        #expect(requests.map(\.path) == ["/first", "/second"])
    }

    @Test("a POST with a large body on a kept connection that closes is sent once")
    func closedUnderBody() async throws {
        let (failure, requests) = try await closedUnder(.post, body: .data(Data(count: 200_000)))
        #expect(failure == .connectionLost)
        #expect(requests.map(\.path) == ["/first", "/second"])
    }

    @Test(
        "a repeatable request on a kept connection that closes costs one new connection",
        arguments: [(.get, [:]), (.delete, [:]), (.post, ["Idempotency-Key": "1"])] as [(HttpMethod, HttpHeader)]
    )
    func closedUnderIdempotent(method: HttpMethod, header: HttpHeader) async throws {
        let (failure, requests) = try await closedUnder(method, header: header)
        #expect(failure == nil)
        #expect(requests.map(\.path) == ["/first", "/second", "/second"])
    }

    @Test("F14: the trace and the exchange tell that a POST with a key was sent twice on a closed connection")
    func closedUnderKey() async throws {
        try await ScriptedServer.run { connection in
            let first = try await connection.readRequest()
            try await connection.respond()
            guard first.path == "/first" else { return }
            _ = try await connection.readRequest()
        } whileOpen: { server in
            let service = AnyHttpService(apiUrl: server.url, transport: transport)
            let first = try await Probe(route: ["first"]).response(with: service).trace
            #expect(first.exchanges.map { $0.connection?.repeats } == [0])
            #expect(!first.description.contains("repeated"))
            let second = Probe(method: .post, route: ["second"], header: ["Idempotency-Key": "1"])
            let trace = try await second.response(with: service).trace
            #expect(await server.requests.map(\.path) == ["/first", "/second", "/second"])
            #expect(trace.exchanges.map { $0.connection?.repeats } == [1])
            #expect(trace.exchanges.first?.connection?.isReused == false)
            #expect(trace.description.contains("repeated on a new connection"))
        }
    }

    @Test("a PUT on a kept connection that closes is repeated with its whole large body")
    func closedUnderPut() async throws {
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let (failure, requests) = try await closedUnder(.put, body: .data(body))
        #expect(failure == nil)
        #expect(requests.map(\.body) == [Data(), body, body])
    }

    @Test("a kept connection that closes while idle costs one new connection, whatever the method")
    func closedWhileIdle() async throws {
        let (closings, close) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
            await connection.close()
            close.yield()
        } whileOpen: { server in
            var closed = closings.makeAsyncIterator()
            for _ in 0..<5 {
                let status = try await send(.post, server.url, through: transport).status
                #expect(status == 200)
                await closed.next()
            }
            #expect(await server.requests.count == 5)
        }
    }

    @Test(
        "a kept connection gives way to others when the system has no descriptor left",
        .enabled(if: OpenDescriptors.canBeCounted, "filled where nothing else runs, with NAUTILUS_ALONE=1")
    )
    func exhausted() async throws {
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        } whileOpen: { server in
            _ = try await send(.get, server.url, through: transport)
            try await ScriptedServer.whileRefusing { other in
                // The failures of an attempt a second, as a retrier makes them, and as libcurl looks for connections
                // that have ended.
                var reasons: [String] = []
                try await OpenDescriptors.whileExhausted {
                    repeat {
                        let error = await #expect(throws: TransportError.self) {
                            try await send(.get, other.url, through: transport)
                        }
                        guard case .failed(.cannotConnectToHost, .notSent, let reason) = error else { return }
                        reasons.append(reason)
                        try await Task.sleep(for: .milliseconds(200))
                    } while reasons.count < 100 && reasons.last?.hasPrefix("The system") == true
                }
                #expect(reasons.first?.hasPrefix("The system has no more threads, descriptors") == true)
                #expect(reasons.last?.hasPrefix("connection refused") == true)
            }
        }
    }

    @Test(
        "a kept TLS connection with an unread farewell costs one new connection",
        .enabled(if: PythonTlsServer.isAvailable, "needs Python and openssl")
    )
    func farewell() async throws {
        // libcurl takes such a connection for alive, and waits on it for ever.
        try await PythonTlsServer.run { server in
            let transport = server.trustingTransport()
            for number in 1...3 {
                let text = try await send(.post, server.url, through: transport).text
                #expect(text == "\(number)")
                await server.oneMore()
            }
        }
    }

    @Test(
        "a kept TLS connection never brings bytes behind an answer, in the same record, as the next one",
        .enabled(if: PythonTlsServer.isAvailable, "needs Python and openssl"),
        arguments: [HttpMethod.get, .post]
    )
    func smuggledOverTls(method: HttpMethod) async throws {
        try await PythonTlsServer.run(.behind) { server in
            let transport = server.trustingTransport()
            for number in 1...20 {
                for path in ["behind", "\(number)"] {
                    let url = server.url.appendingPathComponent(path)
                    let text = try await send(method, url, through: transport).text
                    #expect(text == "/\(path)")
                    let streamed = try await stream(method, url, through: transport).body.text
                    #expect(streamed == "/\(path)")
                }
            }
        }
    }

    @Test(
        "a kept connection never brings bytes behind an answer as the next one",
        arguments: [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
                HttpMethod.get
            ),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", .get),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil", .get),
            ("HTTP/1.1 200 OK\r\nContent-Length: 49\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", .head),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
                .get
            ),
        ]
    )
    func smuggled(answer: String, method: HttpMethod) async throws {
        for split in [answer.utf8.count, answer.utf8.count - 4] {
            let transport = transport
            let (writings, written) = AsyncStream.makeStream(of: Void.self)
            try await ScriptedServer.run { connection in
                let first = try await connection.readRequest()
                if first.path == "/first" {
                    let bytes = Data(answer.utf8)
                    try await connection.write(bytes[..<split])
                    // The client may have left already.
                    try? await connection.write(bytes[split...])
                    written.finish()
                    _ = try? await connection.readRequest()
                    return
                }
                try await connection.respond(body: Data("good".utf8))
            } whileOpen: { server in
                _ = try await send(method, server.url.appendingPathComponent("first"), through: transport)
                // Bytes that come only after the next request cannot be told from its answer by any client.
                for await _ in writings {}
                let second = server.url.appendingPathComponent("second")
                #expect(try await send(.get, second, through: transport).text == "good")
            }
        }
    }

    @Test("of many exchanges at once, none gets bytes that a server has sent behind an answer")
    func smuggledInCrowd() async throws {
        // With its header, as much as is read at once, so that what follows is there when the answer is complete.
        let unread = Data("HTTP/1.1 204 No Content\r\n\r\n".utf8)
        let evil = Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)
        let answer = unread + Data(repeating: 0x78, count: 16_384 - unread.count) + evil
        try await ScriptedServer.run { connection in
            while true {
                let request = try await connection.readRequest()
                if request.path == "/204" {
                    try await connection.write(answer)
                } else {
                    try await connection.respond(body: Data(request.path.utf8))
                }
            }
        } whileOpen: { server in
            let transport = transport
            let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        var wrong = 0
                        for number in 0..<250 {
                            let path = number.isMultiple(of: 4) ? "/204" : "/\(worker)-\(number)"
                            let text = try await send(.get, server.url.appendingPathComponent(path), through: transport)
                                .text
                            if text != (path == "/204" ? "" : path) { wrong += 1 }
                        }
                        return wrong
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(wrong == 0)
        }
    }

    @Test("a repeatable request whose kept connection closes, and that gets no new one in time, is maybeExecuted")
    func closedAndUnreachable() async throws {
        let isClosed = Flag()
        try await ScriptedServer.run { connection in
            // SOCKS (RFC 1928), so that the second connection is not made before that is answered.
            guard await !isClosed.isSet else { return try await connection.hang() }
            _ = try await connection.read(Int(connection.read(2)[1]))
            try await connection.write(Data([5, 0]))
            _ = try await connection.read(10)
            try await connection.write(Data([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
            _ = try await connection.readRequest()
            try await connection.respond()
            _ = try await connection.readRequest()
            await isClosed.set()
        } whileOpen: { server in
            let route = CurlTransport.Route.proxy(.init("socks5://127.0.0.1:\(server.port)"))
            let transport = CurlTransport(configuration: .init(connectTimeout: .seconds(1), route: route))
            let url = try #require(URL(string: "http://127.0.0.1/"))
            // A busy machine may need more time, and other connections.
            while (try? await send(.get, url, through: transport)) == nil {}
            let failure = try await failure { try await send(.put, url, through: transport) }
            #expect(failure == Failure(code: .timedOut, delivery: .maybeExecuted))
            #expect(await server.requests.filter { $0.requestLine == "PUT / HTTP/1.1" }.count == 1)
        }
    }

    /// A request on a kept connection that the server closes when it has read it.
    private func closedUnder(
        _ method: HttpMethod,
        header: HttpHeader = [:],
        body: HttpBody.Payload = .empty
    ) async throws -> (Failure?, [RecordedRequest]) {
        try await ScriptedServer.run { connection in
            let first = try await connection.readRequest()
            try await connection.respond()
            guard first.path == "/first" else { return }
            _ = try await connection.readRequest()
        } whileOpen: { server in
            _ = try await send(.get, server.url.appendingPathComponent("first"), through: transport)
            let second = server.url.appendingPathComponent("second")
            let failure = try await failure {
                try await send(method, second, header: header, body: body, through: transport)
            }
            return (failure, await server.requests)
        }
    }
}

/// Whether something has happened.
private actor Flag {
    private(set) var isSet = false

    func set() { isSet = true }
}
