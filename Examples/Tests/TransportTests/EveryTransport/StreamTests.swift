import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A streamed exchange", .timeLimit(.minutes(10)), .whereAvailable)
struct StreamTests {
    private func length(of body: HttpBodyStream) async throws -> Int {
        var count = 0
        for try await chunk in body { count += chunk.count }
        return count
    }

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
            let transport = TransportUnderTest.make()
            let reading = Task {
                let response = try await stream(.get, server.url, through: transport)
                var chunks = response.body.makeAsyncIterator()
                let first = try await chunks.next()
                #expect(first == Data("abc".utf8))
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

    @Test("the unread part of a stream is not in memory, and holds up no other exchange")
    func slowReader() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 629145600\r\n\r\n")
            let part = Data(count: 1 << 20)
            for _ in 0..<600 { try await connection.write(part) }
        } whileOpen: { server in
            let transport = TransportUnderTest.make()
            let before = try ResidentMemory.mebibytes()
            let response = try await stream(.get, server.url, through: transport)
            // While the first is not read, another one is read to its end.
            let other = try await stream(.get, server.url, through: transport).body
            #expect(try await length(of: other) == 629_145_600)
            var (count, most, chunks) = (0, before, 0)
            for try await chunk in response.body {
                count += chunk.count
                chunks += 1
                if chunks.isMultiple(of: 50) { most = max(most, try ResidentMemory.mebibytes()) }
            }
            #expect(count == 629_145_600)
            #expect(most - before < ResidentMemory.limit)
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
            let error = await #expect(throws: TransportError.self) { _ = try await chunks.next() }
            guard case .failed(_, .maybeExecuted, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("redirects and challenges come back as the responses that they are")
    func passedOn() async throws {
        let transport = TransportUnderTest.make()
        let lines = [
            "HTTP/1.1 302 Found\r\nLocation: /b",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"",
        ]
        for line in lines {
            try await ScriptedServer.run { connection in
                _ = try await connection.readRequest()
                try await connection.write("\(line)\r\nContent-Length: 3\r\n\r\nabc")
                try await connection.hang()
            } whileOpen: { server in
                let response = try await stream(.get, server.url, through: transport)
                #expect(response.status == (line.contains("302") ? 302 : 401))
                if response.status == 401 { #expect(try await response.body.text == "abc") }
            }
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

    @Test("streamed exchanges one after the other share a connection")
    func keptConnection() async throws {
        let transport = TransportUnderTest.make()
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond(body: Data("abc".utf8))
            }
        } whileOpen: { server in
            for _ in 0..<5 {
                let response = try await stream(.get, server.url, through: transport)
                #expect(try await response.body.text == "abc")
            }
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("no more at once than configured: the rest queues, and leaves when it is cancelled")
    func line() async throws {
        let transport = TransportUnderTest.make(connectionsPerHost: 1)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab")
                for await _ in ends {}
                try await connection.write("c")
            }
        } whileOpen: { server in
            let first = try await stream(.get, server.url, through: transport)
            let cancelled = Task { try await stream(.get, server.url, through: transport).status }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let waiting = Task { try await stream(.get, server.url, through: transport).status }
            end.finish()
            #expect(try await first.body.text == "abc")
            #expect(try await waiting.value == 200)
            #expect(await server.requests.count == 2)
        }
    }

    @Test("2000 exchanges, cancelled or dropped at any point: nothing hangs, and the transport goes on")
    func storm() async throws {
        let transport = TransportUnderTest.make()
        let part = Data(count: 100_000)
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond(body: part)
            }
        } whileOpen: { server in
            let ended = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        await exchange(number, server.url, through: transport)
                        return 1
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(ended == 2000)
            #expect(try await send(.get, server.url, through: transport).body == part)
        }
    }

    /// One of the storm: every second is streamed, some readers leave early, every third is cancelled somewhere.
    private func exchange(_ number: Int, _ url: URL, through transport: any HttpTransport) async {
        let call = Task {
            guard number.isMultiple(of: 2) else {
                return try await send(.get, url, through: transport).body.count
            }
            let response = try await stream(.get, url, through: transport)
            var (count, left) = (0, number % 5)
            for try await chunk in response.body {
                count += chunk.count
                left -= 1
                if left == 0 { break }
            }
            return count
        }
        if number.isMultiple(of: 3) {
            for _ in 0..<(number % 50) { await Task.yield() }
            call.cancel()
        }
        switch await call.result {
        case .success(let count): #expect(count > 0 && count <= 100_000)
        case .failure(let error): #expect(error is CancellationError && number.isMultiple(of: 3), "\(error)")
        }
    }
}
