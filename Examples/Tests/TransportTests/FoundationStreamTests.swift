import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Streams with Foundation", .timeLimit(.minutes(10)))
struct FoundationStreamTests {
    @Test("a request's chunks are sent with their length, once all of them are there")
    func upload() async throws {
        let (chunks, source) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        for text in ["abc", "def"] { source.yield(Data(text.utf8)) }
        source.finish()
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            #expect(request.values(of: "Content-Length") == ["6"])
            try await connection.respond(body: request.body)
        } whileOpen: { server in
            let body = HttpBody.Payload.stream(HttpBodyStream(once: chunks))
            let response = try await stream(.post, server.url, body: body)
            #expect(try await response.body.text == "abcdef")
        }
    }

    @Test("a stream that goes on takes no connection from what is not streamed")
    func apart() async throws {
        let transport = TransportUnderTest.make(connectionsPerHost: 1)
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            guard request.requestLine.contains("/events") else { return try await connection.respond() }
            try await connection.write("HTTP/1.1 200 OK\r\n\r\ndata: a\n\n")
            try await connection.hang()
        } whileOpen: { server in
            let events = try await stream(.get, server.url.appendingPathComponent("events"), through: transport)
            let response = try await send(.get, server.url, through: transport)
            #expect((events.status, response.status) == (200, 200))
        }
    }
}
