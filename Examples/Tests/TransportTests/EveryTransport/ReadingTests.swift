import Foundation
import Nautilus
import NautilusStreams
import ScriptedSockets
import Testing

@Suite("Streamed responses over real sockets", .timeLimit(.minutes(10)), .whereAvailable)
struct ReadingTests {
    private struct Read: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { [] }
    }

    private struct Number: Decodable, Equatable, Sendable {
        let n: Int
    }

    @Test("lines, wherever the network has cut them")
    func lines() async throws {
        let text = "één\r\ntwee\ndrie"
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n")
            for byte in text.utf8 { try await connection.write(Data([byte])) }
        } whileOpen: { server in
            var lines: [String] = []
            for try await line in try await Read().schedule(with: service(server.url)).lines() { lines.append(line) }
            #expect(lines == ["één", "twee", "drie"])
        }
    }

    @Test("JSON values line by line, each as soon as it is there")
    func values() async throws {
        let (read, goOn) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            var read = read.makeAsyncIterator()
            try await connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for number in 1...3 {
                try await connection.write("{\"n\":\(number)}\n")
                await read.next()
            }
        } whileOpen: { server in
            var numbers: [Number] = []
            let values = try await Read().schedule(with: service(server.url)).values(of: Number.self)
            for try await number in values {
                numbers.append(number)
                goOn.yield()
            }
            #expect(numbers == [Number(n: 1), Number(n: 2), Number(n: 3)])
        }
    }

    @Test("events over connections that end and break, each continued with the last identifier, until 204")
    func events() async throws {
        let feeds = [
            "200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n",
            "200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\nid: 3\ndata: c\n\ndata: half",
            "204 No Content\r\n\r\n",
        ]
        try await ScriptedServer.run { connection in
            let last = try await connection.readRequest().values(of: "Last-Event-ID").first
            try await connection.write("HTTP/1.1 \(feeds[last == nil ? 0 : last == "2" ? 1 : 2])")
        } whileOpen: { server in
            var data: [String] = []
            for try await event in Read().events(with: service(server.url)) { data.append(event.data) }
            #expect(data == ["a", "b", "c"])
            let asked = await server.requests.map { $0.values(of: "Last-Event-ID") }
            #expect(asked == [[], ["2"], ["3"]])
        }
    }

    @Test("a 204 has no value, a 404 may have one, and what the server says of a refusal is there")
    func statuses() async throws {
        struct Find: Request {
            typealias Result = String?
            let status: Int
            var route: HttpRoute { [status] }
            var acceptedStatusCodes: HttpStatusCodes { [.success, 404] }

            func decode(_ data: Data) throws -> String? { String(decoding: data, as: UTF8.self) }
            func decode(_ response: HttpResponse<Data>) throws -> String? {
                response.status == 200 ? try decode(response.body) : nil
            }
        }
        struct Problem: Decodable, Sendable { let title: String }
        try await ScriptedServer.run { connection in
            while true {
                let status = try await connection.readRequest().path.dropFirst()
                if status == "204" {
                    try await connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                } else {
                    try await connection.respond("\(status) Status", body: Data(#"{"title":"no"}"#.utf8))
                }
            }
        } whileOpen: { server in
            let service = service(server.url)
            var found: [String?] = []
            for status in [200, 204, 404] { found.append(try await Find(status: status).schedule(with: service)) }
            #expect(found == [#"{"title":"no"}"#, nil, nil])
            let error = await #expect(throws: HttpError.self) {
                _ = try await Find(status: 422).schedule(with: service)
            }
            #expect(error?.responseBody(as: Problem.self)?.title == "no")
        }
    }

    @Test("an error inside a 200 leads to one refresh for all calls, and each is repeated with the new credential")
    func rejectionInsideSuccess() async throws {
        struct Get: Request {
            typealias Result = String
            var route: HttpRoute { [] }

            func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
            func status(of response: HttpResponse<Data>) -> AnswerStatus {
                AnswerStatus(response.body == Data("token_expired".utf8) ? 401 : response.status)
            }
        }
        let coordinator = RefreshCoordinator<String> { _ in "new" }
        coordinator.signIn("old")
        try await ScriptedServer.run { connection in
            while true {
                let request = try await connection.readRequest()
                let isNew = request.values(of: "Authorization") == ["Bearer new"]
                try await connection.respond(body: Data((isNew ? "hello" : "token_expired").utf8))
            }
        } whileOpen: { server in
            let service = service(server.url).with {
                $0.retrierFactory = coordinator.authorization { $1.header[.authorization] = "Bearer \($0)" }
            }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await Get().schedule(with: service) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "hello", count: 50))
            #expect(coordinator.current?.generation == 2)
        }
    }

    @Test("a request in one line, with the transport swapped")
    func inline() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond(body: Data(#"{"n":7}"#.utf8))
        } whileOpen: { server in
            let base = AnyHttpService(apiUrl: server.url).with { $0.header = ["X-Base": "1"] }
            let service = base.with { $0.transport = TransportUnderTest.make() }
            let number = try await AnyRequest(.get, ["a", 7], query: ["q": "1"], as: Number.self).schedule(
                with: service
            )
            #expect(number == Number(n: 7))
            let request = try #require(await server.requests.first)
            #expect(request.target == "/a/7?q=1")
            #expect(request.values(of: "X-Base") == ["1"])
        }
    }
}
