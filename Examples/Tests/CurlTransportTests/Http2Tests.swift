import Foundation
import Nautilus
import Testing

@Suite("Over HTTP/2", .timeLimit(.minutes(10)), .whereHttp2)
struct Http2Tests {
    /// Sends GETs at once, and returns the texts of their answers.
    private func texts(_ count: Int, of url: URL, through transport: CurlTransport) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { try await send(.get, url, through: transport).text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("many exchanges share one connection, once the host has answered over it")
    func shared() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let texts = try await texts(64, of: server.url("/hold/64"), through: transport)
            #expect(texts == Array(repeating: "1", count: 64))
            #expect(try await server.report().connections == 1)
        }
    }

    @Test("the first exchanges wait for one connection, as many as there could be of HTTP/1.1")
    func first() async throws {
        try await Http2Server.run { server in
            let texts = try await texts(12, of: server.url("/hold/6"), through: server.transport())
            #expect(texts == Array(repeating: "1", count: 12))
            let report = try await server.report()
            #expect(report.connections == 1)
            #expect(report.mostAtOnce == 6)
        }
    }

    @Test("no more are under way than there may be")
    func bounded() async throws {
        try await Http2Server.run { server in
            let transport = server.transport { $0.streamsPerHost = 4 }
            _ = try await send(.get, server.url("/a"), through: transport)
            _ = try await texts(40, of: server.url("/hold/4"), through: transport)
            let report = try await server.report()
            #expect(report.connections == 1)
            #expect(report.mostAtOnce == 4)
        }
    }

    @Test("a server that allows fewer refuses what is beyond until that is known, and gets it again")
    func narrow() async throws {
        try await Http2Server.run("streams=2") { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            #expect(try await texts(6, of: server.url("/a"), through: transport).count == 6)
        }
    }

    @Test("a server that speaks only HTTP/1.1 gets that, and no more connections than it may have")
    func http1Only() async throws {
        try await Http2Server.run("http1") { server in
            let transport = server.transport { $0.connectionsPerHost = 3 }
            let texts = try await texts(100, of: server.url("/a"), through: transport)
            #expect(texts == Array(repeating: "http/1.1", count: 100))
            #expect(try await server.report().connections <= 3)
        }
    }

    @Test(
        "goes neither what is read as it arrives, nor what did not ask, nor, without a trace, what must not run twice or has a body"
    )
    func rule() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            let url = try server.url("/a")
            _ = try await send(.get, url, through: transport)
            _ = try await send(.delete, url, through: transport)
            _ = try await send(.post, url, through: transport)
            _ = try await send(.put, url, body: .data(Data("body".utf8)), through: transport)
            _ = try await stream(.get, url, through: transport).body.collected(limit: 100)
            _ = try await send(.get, url, through: server.transport { $0.httpVersion = .http1 })
            let isLimited = CurlTransport.http2Limitation != nil
            let overHttp1 = (isLimited ? ["POST", "PUT"] : []) + ["GET", "GET"]
            let overHttp2 = ["GET", "DELETE"] + (isLimited ? [] : ["POST", "PUT"])
            let requests = overHttp2.map { "\($0) /a" } + overHttp1.map { "\($0) /a http/1.1" }
            #expect(try await server.report().requests == requests)
        }
    }

    @Test("fields keep their values, interim responses are skipped, and trailers are passed on")
    func fields() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            let echo = try await send(.get, server.url("/echo/201"), header: ["X-Probe": "b c"], through: transport)
            #expect(echo.status == 201)
            #expect(echo.text == "GET b c")
            #expect(echo.header.values(of: "X-Multi") == ["one", "two"])
            #expect(try await send(.head, server.url("/echo"), through: transport).body.isEmpty)
            #expect(try await send(.get, server.url("/echo/304"), through: transport).status == 304)
            #expect(try await send(.get, server.url("/interim/3"), through: transport).text == "ok")
            let trailed = try await send(.get, server.url("/trailers"), through: transport)
            #expect(trailed.text == "body")
            #expect(trailed.trailers.values(of: "X-Row") == ["1", "2"])
            #expect(try await send(.get, server.url("/large/1000000"), through: transport).body.count == 1_000_000)
            #expect(try await server.report().connections == 1)
        }
    }

    @Test("a connection that the server has given up or closed costs one new connection", arguments: ["goaway", "bye"])
    func givenUp(path: String) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            for number in 1...3 {
                let text = try await send(.get, server.url("/\(path)"), through: transport).text
                #expect(text == "\(number)")
                await server.wait(for: path == "bye" ? "lost" : "goaway")
            }
            #expect(try await server.report().requests.count == 3)
        }
    }

    @Test(
        "what the server refuses, or a kept connection loses, is sent once more",
        arguments: ["refused", "above", "closed", "lost", "abort"]
    )
    func repeated(course: String) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            #expect(try await send(.get, server.url("/once/\(course)"), through: transport).text == "2")
            let report = try await server.report()
            #expect(report.connections == 2)
            #expect(report.requests == ["GET /a"] + Array(repeating: "GET /once/\(course)", count: 2))
        }
    }

    @Test("what a server refuses for ever fails")
    func refused() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let failure = try await failure { try await send(.get, server.url("/refused"), through: transport) }
            #expect(failure?.code == .networkConnectionLost)
            #expect(failure?.delivery == (CurlTransport.http2Limitation == nil ? .notSent : .maybeExecuted))
            #expect(try await server.report().requests.count == 7)
        }
    }

    @Test("what the server wants over HTTP/1.1 goes over HTTP/1.1")
    func downgraded() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            let text = try await send(.get, server.url("/once/http1"), through: transport).text
            #expect(text == "http/1.1")
            #expect(try await server.report().requests == ["GET /once/http1", "GET /once/http1 http/1.1"])
        }
    }

    @Test("a cancelled exchange leaves the others of its connection alone")
    func cancelled() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let held = Task { try await texts(2, of: server.url("/hold/3"), through: transport) }
            await server.wait(for: "held", times: 2)
            for path in ["slow", "never"] {
                let url = try server.url("/\(path)")
                let other = Task { try await send(.get, url, through: transport) }
                await server.wait(for: path)
                other.cancel()
                await #expect(throws: CancellationError.self) { try await other.value }
            }
            let last = try await texts(1, of: server.url("/hold/3"), through: transport)
            #expect(last == ["1"])
            #expect(try await held.value == ["1", "1"])
            // libcurl tells the server when it next writes to it.
            await server.wait(for: "reset")
            #expect(try await server.report().connections == 1)
        }
    }

    @Test("an exchange that waits for another's connection makes one of its own when that is cancelled")
    func connectionCancelled() async throws {
        try await Http2Server.run("stalled") { server in
            let transport = server.transport()
            let url = try server.url("/a")
            let first = Task { try await send(.get, url, through: transport) }
            await server.wait(for: "stalled")
            let others = Task { try await texts(5, of: url, through: transport) }
            // The others may come before or after the cancellation.
            await Task.yield()
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(try await others.value == Array(repeating: "1", count: 5))
            #expect(try await server.report().requests.count == 5)
        }
    }

    @Test("a connection that is not made in time ends all that wait for it, not sent")
    func notConnected() async throws {
        try await Http2Server.run("stalled") { server in
            let transport = server.transport { $0.connectTimeout = .milliseconds(300) }
            let url = try server.url("/a")
            let failures = try await withThrowingTaskGroup(of: Failure?.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await failure { try await send(.get, url, through: transport) } }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Those that the first one's end has woken may have made a connection in the time they had left.
            let late = Failure(code: .timedOut, delivery: .notSent)
            #expect(failures.contains(late))
            #expect(failures.allSatisfy { $0 == nil || $0 == late })
        }
    }
}
