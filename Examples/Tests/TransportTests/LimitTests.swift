import Foundation
import Nautilus
import NautilusURLSession
import ScriptedSockets
import Testing

@Suite("Limits of memory", .timeLimit(.minutes(10)))
struct LimitTests {
    private let transport = URLSessionTransport(configuration: .init(responseLimit: 1000))

    @Test("a Content-Length over the limit ends the exchange before any of the body came")
    func announced() async throws {
        try await expectTooLarge("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
    }

    @Test("a body without a length ends the exchange once it passes the limit")
    func endless() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 200 OK\r\n\r\n")
            // Ends when the client closes the connection, which is what is proved.
            while true { try await connection.write(Data(count: 10_000)) }
        } whileOpen: { server in
            await #expect(throws: TransportError.responseTooLarge(limit: 1000)) {
                try await send(.get, server.url, through: transport)
            }
        }
    }

    @Test("a small compressed body that grows over the limit is refused")
    func bomb() async throws {
        // 100 000 zeros, in gzip.
        let zeros = try #require(Data(base64Encoded: Self.compressedZeros))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(zeros.count)\r\n\r\n"
        #expect(zeros.count < 1000)
        try await expectTooLarge(Data(head.utf8) + zeros)
        #expect(try await answer(Data(head.utf8) + zeros).body == Data(count: 100_000))
    }

    @Test("a body of exactly the limit is accepted")
    func exact() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond(body: Data(count: 1000))
        } whileOpen: { server in
            let body = try await send(.get, server.url, through: transport).body
            #expect(body.count == 1000)
        }
    }

    @Test("no more connections than configured: the rest queues")
    func connections() async throws {
        let transport = URLSessionTransport(configuration: .init(connectionsPerHost: 2))
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                arrive.yield()
                for await _ in released {}
                try await connection.respond()
            }
        } whileOpen: { server in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await send(.get, server.url, through: transport).status } }
                var arrivals = arrived.makeAsyncIterator()
                for _ in 0..<2 { await arrivals.next() }
                release.finish()
                for try await status in group { #expect(status == 200) }
            }
            #expect(await server.connectionCount == 2)
            #expect(await server.requests.count == 6)
        }
    }

    private func expectTooLarge(_ bytes: String) async throws { try await expectTooLarge(Data(bytes.utf8)) }

    /// The server hangs after `bytes`, so that only the limit can end the exchange.
    private func expectTooLarge(_ bytes: Data) async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write(bytes)
            try await connection.hang()
        } whileOpen: { server in
            await #expect(throws: TransportError.responseTooLarge(limit: 1000)) {
                try await send(.get, server.url, through: transport)
            }
        }
    }

    private static let compressedZeros =
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
}
