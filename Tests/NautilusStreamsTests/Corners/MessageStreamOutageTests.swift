import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Web sockets during an outage of the server", .endsInTime)
struct MessageStreamOutageTests {
    /// Opens sockets, except while the server is down.
    private final class Server: WebSocketTransport {
        private let clock: ManualClock
        private let outage: Range<Duration>
        private let status: Int?
        private let sockets: ScriptedWebSocketTransport
        let starts = Locked<[Duration]>([])

        /// - Parameter status: The answer while it is down; nil for none.
        init(_ clock: ManualClock, downIn outage: Range<Duration>, status: Int? = nil) {
            (self.clock, self.outage, self.status) = (clock, outage, status)
            sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    try await socket.send(.text("before"))
                    try await clock.sleep(for: outage.lowerBound - clock.now.offset)
                    socket.drop()
                },
                .accept { socket in
                    try await socket.send(.text("after"))
                    while true { try await socket.send(socket.receive()) }
                }
            )
        }

        func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            let now = clock.now.offset
            starts.withLock { $0.append(now) }
            guard outage.contains(now) else { return try await sockets.open(request, context: context) }
            guard let status else { throw TransportError(.cannotConnectToHost) }
            return .declined(HttpResponse(status: status, header: [:], body: Data()))
        }
    }

    /// Opens a socket on a server that goes down after five seconds, and reads two messages.
    private func read(
        _ outage: Duration,
        status: Int? = nil,
        limit: ReconnectLimit = .none,
        seed: UInt64 = 0
    ) async throws -> (messages: [String], HttpError?, starts: [Duration]) {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let server = Server(clock, downIn: .seconds(5)..<(.seconds(5) + outage), status: status)
            let policy = BackoffRetrier.Configuration.standard.with {
                $0.maxAttempts = 2
                $0.budget = .shared(TokenBucketBudget(capacity: 0))
            }
            let service = SocketService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(policy),
                webSocketTransport: server,
                clock: clock
            )
            let chat = try await ChatStream().schedule(with: service, reconnectLimit: limit)
            var (lines, messages) = (chat.makeAsyncIterator(), [String]())
            do throws(HttpError) {
                for _ in 0..<2 { if let line = try await lines.next() { messages.append(line) } }
                await chat.close()
                return (messages, nil, server.starts.withLock { $0 })
            } catch {
                return (messages, error, server.starts.withLock { $0 })
            }
        }
    }

    @Test(
        "F25: a web socket outlasts an outage of any length, and is back within the longest delay",
        arguments: [1, 10, 600, 3600] as [Int64],
        [nil, 503, 429] as [Int?]
    )
    func outage(seconds: Int64, status: Int?) async throws {
        let (messages, error, starts) = try await read(.seconds(seconds), status: status)
        #expect(messages == ["before", "after"])
        #expect(error == nil)
        let last = try #require(starts.last)
        #expect(last >= .seconds(5 + seconds) && last < .seconds(25 + seconds))
        #expect(starts.count <= 2 + 5 + Int(seconds) / 4)
    }

    @Test(
        "F25: an answer by which the server means it ends a web socket that was open",
        arguments: [404, 403, 410, 501]
    )
    func final(status: Int) async throws {
        let (messages, error, starts) = try await read(.seconds(60), status: status)
        #expect(messages == ["before"])
        #expect(error?.kind == .status(status))
        #expect(starts.count == 2)
    }

    @Test("F25: a reconnect limit ends a web socket, and its trace says so")
    func limit() async throws {
        let (messages, error, starts) = try await read(.seconds(600), limit: .attempts(5))
        #expect(messages == ["before"])
        #expect(error?.kind == .transport(.cannotConnectToHost))
        let reason = error?.trace.attempts.last?.decision?.reason
        #expect(reason == .custom("reconnect limit: 5 connections in a row"))
        #expect(starts.count == 6)
    }
}
