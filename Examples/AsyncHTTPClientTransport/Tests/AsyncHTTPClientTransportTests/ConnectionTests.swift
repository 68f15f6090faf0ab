import Foundation
import NIOPosix
import Nautilus
import ScriptedSockets
import Testing

@testable import AsyncHTTPClientTransport

@Suite("Kept and shared connections", .timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test("exchanges one after the other share a connection, streamed or not")
    func kept() async throws {
        let transport = AsyncHTTPClientTransport()
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond(body: Data("abc".utf8))
            }
        } whileOpen: { server in
            for _ in 0..<5 {
                let streamed = try await stream(.get, server.url, through: transport)
                #expect(try await streamed.body.text == "abc")
                #expect(try await send(.get, server.url, through: transport).body == Data("abc".utf8))
            }
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("no more at once than configured: the rest queues, and leaves when it is cancelled")
    func queue() async throws {
        let transport = AsyncHTTPClientTransport(configuration: .init(connectionsPerHost: 1))
        try await ScriptedServer.run { connection in
            while try await connection.readRequest().path != "/open" {
                try await connection.respond(body: Data("abc".utf8))
            }
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
            try await connection.hang()
        } whileOpen: { server in
            let url = server.url.appendingPathComponent("open")
            var open: HttpResponse? = try await stream(.get, url, through: transport)
            #expect(open?.status == 200)
            let cancelled = Task { try await send(.get, server.url, through: transport) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let waiting = (0..<20).map { _ in Task { try await send(.get, server.url, through: transport).status } }
            open = nil
            for task in waiting { #expect(try await task.value == 200) }
            #expect(await server.requests.count == 21)
        }
    }

    @Test("a host that hangs holds up no other, and a cancelled caller leaves its queue at once")
    func hanging() async throws {
        let transport = AsyncHTTPClientTransport(configuration: .init(connectionsPerHost: 1))
        try await ScriptedServer.run {
            try await $0.hang()
        } whileOpen: { hanging in
            let stuck = (0..<3).map { _ in Task { try await send(.get, hanging.url, through: transport) } }
            await hanging.firstConnection()
            try await ScriptedServer.run { connection in
                _ = try await connection.readRequest()
                try await connection.respond()
            } whileOpen: { server in
                let response = try await send(.get, server.url, through: transport)
                #expect(response.status == 200)
            }
            for task in stuck {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test("connections are served on the threads that are handed over, and leave them running")
    func threads() async throws {
        let eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var transport: AsyncHTTPClientTransport? = .init(configuration: .init(eventLoopGroup: eventLoopGroup))
        #expect(transport?.connections.client.eventLoopGroup === eventLoopGroup)
        transport = nil
        #expect(try await eventLoopGroup.any().submit { true }.get())
        try await eventLoopGroup.shutdownGracefully()
    }
}
