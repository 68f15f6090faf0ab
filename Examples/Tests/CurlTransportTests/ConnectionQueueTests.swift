import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Exchanges that wait for a connection", .timeLimit(.minutes(10)), .whereAvailable)
struct ConnectionQueueTests {
    private let transport = TransportUnderTest.make(connectionsPerHost: 1)

    @Test("the connection of a cancelled exchange goes to one that waits, though no socket has an event")
    func cancelled() async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            if request.path == "/hang" { try await connection.hang() }
            try await connection.respond()
        } whileOpen: { server in
            let hanging = Task { try await send(.get, server.url.appendingPathComponent("hang"), through: transport) }
            await server.firstConnection()
            async let waiting = send(.get, server.url.appendingPathComponent("next"), through: transport)
            // Long enough to queue, nearly always; else the test proves less, and does not fail.
            try await Task.sleep(for: .milliseconds(50))
            hanging.cancel()
            await #expect(throws: CancellationError.self) { try await hanging.value }
            let status = try await waiting.status
            #expect(status == 200)
            #expect(await server.connectionCount == 2)
        }
    }

    @Test("exchanges do not wait for streams, which have as many connections of their own")
    func streams() async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            if request.path == "/events" {
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                try await connection.hang()
            }
            try await connection.respond()
        } whileOpen: { server in
            let events = server.url.appendingPathComponent("events")
            let open = try await stream(.get, events, through: transport)
            #expect(try await send(.get, server.url, through: transport).status == 200)
            // And another stream waits for the first.
            let (opened, tell) = AsyncStream.makeStream(of: Int.self)
            let next = Task {
                let response = try await stream(.get, events, through: transport)
                tell.yield(response.status)
            }
            for _ in 0..<3 { #expect(try await send(.get, server.url, through: transport).status == 200) }
            #expect(await server.requests.filter { $0.path == "/events" }.count == 1)
            _ = consume open
            for await status in opened.prefix(1) { #expect(status == 200) }
            try await next.value
        }
    }

    @Test("the connections of readers who leave in the middle of a body go to exchanges that wait")
    func abandoned() async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            if request.path == "/half" {
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                try await connection.hang()
            }
            try await connection.respond()
        } whileOpen: { server in
            for _ in 0..<20 {
                var half: HttpResponse<HttpBodyStream>? = try await stream(
                    .get,
                    server.url.appendingPathComponent("half"),
                    through: transport
                )
                #expect(half?.status == 200)
                half = nil
                let next = try await send(.get, server.url.appendingPathComponent("next"), through: transport)
                #expect(next.status == 200)
            }
        }
    }
}
