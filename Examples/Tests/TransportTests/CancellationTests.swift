import Foundation
import Nautilus
import NautilusURLSession
import ScriptedSockets
import Testing

@Suite("The cancellation of an exchange", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test("an exchange can be cancelled in the middle of the answer's body")
    func duringBody() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            try await connection.hang()
        } whileOpen: { server in
            try await expectCancelled(server)
        }
    }

    @Test("an exchange can be cancelled while a large body is sent to a server that does not read")
    func duringUpload() async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.ignore()
        } whileOpen: { server in
            let sending = Task { try await send(.post, server.url, body: .data(Data(count: 20_000_000))) }
            await server.firstConnection()
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    @Test("an exchange can be cancelled while it queues for a connection")
    func inLine() async throws {
        let transport = URLSessionTransport(configuration: .init(connectionsPerHost: 1))
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.hang()
        } whileOpen: { server in
            let first = Task { try await send(.get, server.url, through: transport) }
            await server.firstConnection()
            let second = Task { try await send(.get, server.url, through: transport) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("a cancellation after the answer changes nothing")
    func afterwards() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { server in
            let sending = Task { try await send(.get, server.url) }
            let before = try await sending.value
            sending.cancel()
            let after = try await sending.value
            #expect(before.status == 200)
            #expect(after.body == before.body)
        }
    }

    @Test("a cancelled exchange closes its connection, so that the server can stop working")
    func reachesServer() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            defer { close.finish() }
            try await connection.hang()
        } whileOpen: { server in
            try await expectCancelled(server)
            for await _ in closed {}
        }
    }

    @Test("a transport is released with exchanges behind it, a hundred times")
    func released() async throws {
        let script = ConformanceScript()
        try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            for _ in 0..<100 {
                let transport = URLSessionTransport()
                async let answered = send(.get, server.url.appendingPathComponent("echo"), through: transport)
                let hanging = Task {
                    try await send(.get, server.url.appendingPathComponent("hang"), through: transport)
                }
                hanging.cancel()
                _ = await hanging.result
                let status = try await answered.status
                #expect(status == 200)
            }
        }
    }

    private func expectCancelled(_ server: ScriptedServer) async throws {
        let sending = Task { try await send(.get, server.url) }
        await server.firstConnection()
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
    }
}
