import Foundation
import Nautilus
import NautilusURLSession
import ScriptedSockets
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A URL cache set by the caller", .timeLimit(.minutes(10)))
struct CacheTests {
    private let transport = URLSessionTransport(
        configuration: .init(connectionsPerHost: 32, adjust: { $0.urlCache = .shared })
    )

    /// With a cache, Foundation on Linux ends the process when a task is cancelled.
    @Test("three hundred exchanges, 30 at once, are cancelled in the middle of a body that may be cached")
    func cancelled() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 100\r\n\r\nhalf"
            )
            begin.yield()
            try await connection.hang()
        } whileOpen: { server in
            var begun = begun.makeAsyncIterator()
            for _ in 0..<10 {
                let sending = (0..<30).map { _ in Task { try await send(.get, server.url, through: transport) } }
                for _ in sending { await begun.next() }
                for exchange in sending { exchange.cancel() }
                for exchange in sending {
                    await #expect(throws: CancellationError.self) { try await exchange.value }
                }
            }
            #expect(await server.requests.count == 300)
        }
    }
}
