import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A streamed exchange", .timeLimit(.minutes(10)))
struct StreamTests {
    @Test("the header comes before the body, and each part as soon as it is there")
    func inParts() async throws {
        let (read, goOn) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            var read = read.makeAsyncIterator()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
            await read.next()
            try await connection.write("abc")
            await read.next()
            try await connection.write("def")
            try await connection.hang()
        } whileOpen: { server in
            let response = try await stream(.get, server.url)
            #expect(response.status == 200)
            #expect(response.body.length == 6)
            var chunks = response.body.makeAsyncIterator()
            goOn.yield()
            #expect(try await chunks.next() == Data("abc".utf8))
            goOn.yield()
            #expect(try await chunks.next() == Data("def".utf8))
            #expect(try await chunks.next() == nil)
        }
    }

    @Test("a body that nobody holds ends the exchange, and so does a cancelled reader", arguments: [false, true])
    func left(byCancelling: Bool) async throws {
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            _ = await connection.readToEnd()
            leave.finish()
        } whileOpen: { server in
            let reading = Task {
                let response = try await stream(.get, server.url)
                var chunks = response.body.makeAsyncIterator()
                #expect(try await chunks.next() == Data("abc".utf8))
                if byCancelling {
                    withUnsafeCurrentTask { $0?.cancel() }
                    await #expect(throws: CancellationError.self) { _ = try await chunks.next() }
                }
            }
            try await reading.value
            // The server sees that the connection is closed.
            for await _ in left {}
        }
    }

    @Test("a body that breaks off is an error behind what has come")
    func truncated() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        } whileOpen: { server in
            let response = try await stream(.get, server.url)
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() == Data("abc".utf8))
            let failure = TransportError(.networkConnectionLost, delivery: .maybeExecuted)
            await #expect(throws: failure) { _ = try await chunks.next() }
        }
    }

    @Test("a request's chunks are sent as they come, with their length if it is known", arguments: [nil, Int64(6)])
    func upload(length: Int64?) async throws {
        let (chunks, source) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        try await ScriptedServer.run { connection in
            let head = try await connection.readHead()
            // Nothing of the body exists before the header has come.
            source.yield(Data("abc".utf8))
            source.yield(Data("def".utf8))
            source.finish()
            #expect(head.values(of: "Content-Length") == (length == nil ? [] : ["6"]))
            if length == nil {
                try await connection.respond(body: Data(await connection.readChunkedBody()))
            } else {
                try await connection.skip(6)
                try await connection.respond(body: Data("abcdef".utf8))
            }
        } whileOpen: { server in
            let body = HttpBody.Payload.stream(HttpBodyStream(once: chunks, length: length))
            let response = try await stream(.post, server.url, body: body)
            #expect(try await text(response.body) == "abcdef")
        }
    }

    @Test("an error of the body's chunks ends the exchange, and is the caller's")
    func brokenUpload() async throws {
        struct Broken: Error {}
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let body = HttpBodyStream(from: {
                AsyncThrowingStream { source in
                    source.yield(Data("abc".utf8))
                    source.finish(throwing: Broken())
                }
            })
            await #expect(throws: Broken.self) { try await send(.post, server.url, body: .stream(body)) }
        }
    }

    @Test(
        "an answer that comes before the body has been sent counts, and ends the sending",
        .timeLimit(.minutes(10)),
        arguments: [("Content-Length: 3\r\n\r\nabc", "abc"), ("Content-Length: 0\r\n\r\n", ""), ("\r\nabc", "")]
    )
    func earlyAnswer(rest: String, body: String) async throws {
        let endless = HttpBodyStream(from: { AsyncThrowingStream(unfolding: { Data(count: 10_000) }) })
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.write("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\(rest)")
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let response = try await send(.post, server.url, body: .stream(endless))
            #expect(response.status == 413)
            #expect(String(decoding: response.body, as: UTF8.self) == body)
        }
    }

    @Test("a gibibyte comes down to a reader, and never more than 64 MiB of it are in memory")
    func download() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n")
            let part = Data(count: 1 << 20)
            for _ in 0..<1024 { try await connection.write(part) }
        } whileOpen: { server in
            let response = try await stream(.get, server.url)
            let before = try ResidentMemory.mebibytes()
            var (count, most, chunks) = (0, before, 0)
            for try await chunk in response.body {
                count += chunk.count
                chunks += 1
                if chunks.isMultiple(of: 50) { most = max(most, try ResidentMemory.mebibytes()) }
            }
            #expect(count == 1 << 30)
            #expect(most - before < 64)
        }
    }

    @Test("a gibibyte goes up to a server, and never more than 64 MiB of it are in memory")
    func largeUpload() async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.skip(1 << 30)
            try await connection.respond()
        } whileOpen: { server in
            let before = try ResidentMemory.mebibytes()
            let sent = Sent(parts: 1024)
            let body = HttpBodyStream(length: 1 << 30) { try await sent.next() }
            let response = try await send(.put, server.url, body: .stream(body))
            #expect(response.status == 200)
            #expect(await sent.most - before < 64)
        }
    }
}

/// A body in parts of 1 MiB, and the most memory that was in use while they were made.
private actor Sent {
    private var left: Int
    private(set) var most = 0

    init(parts: Int) {
        left = parts
    }

    func next() throws -> Data? {
        guard left > 0 else { return nil }
        left -= 1
        if left.isMultiple(of: 20) { most = max(most, try ResidentMemory.mebibytes()) }
        return Data(count: 1 << 20)
    }
}

/// What the process holds in memory.
private enum ResidentMemory {
    static func mebibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) / 1024
    }
}
