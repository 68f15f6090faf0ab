import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A server that does not read", .timeLimit(.minutes(10)), .whereAvailable)
struct IdleServerTests {
    /// A gigabyte, of which a server that reads nothing takes no more than the system's buffers hold.
    private static let (chunk, count) = (1 << 16, 1 << 14)

    @Test("holds a large upload up, of which no more is made than is on its way, until its caller has enough")
    func upload() async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.ignore()
        } whileOpen: { server in
            let service = AnyHttpService(apiUrl: server.url.absoluteString, transport: TransportUnderTest.make())
            let made = Count()
            let body = HttpBody.stream(length: Int64(Self.chunk * Self.count)) {
                Chunks(left: Self.count, size: Self.chunk, made: made)
            }
            let call = Task {
                try await Probe(method: .put, body: body, timeout: .seconds(300)).schedule(with: service)
            }
            // Until the buffers are full; on a slow machine it may be told too early, which asserts less.
            var before = -1
            while made.value == 0 || made.value != before {
                before = made.value
                try await Task.sleep(for: .milliseconds(100))
            }
            call.cancel()
            let error = await #expect(throws: HttpError.self) { try await call.value }
            #expect(error?.kind == .cancelled)
            #expect(error?.delivery == .maybeExecuted)
            #expect(made.value < Self.count / 8)
        }
    }

    @Test("and a cancellation ends it, with a body in memory as well")
    func cancelled() async throws {
        let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            arrive.finish()
            try await connection.ignore()
        } whileOpen: { server in
            let body = Data(count: 1 << 26)
            let sending = Task { try await send(.put, server.url, body: .data(body)) }
            for await _ in arrivals {}
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }
}

/// Chunks of zeros, counted as they are made.
private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var left: Int
    let size: Int
    let made: Count

    mutating func next() async -> Data? {
        guard left > 0 else { return nil }
        left -= 1
        made.add()
        return Data(count: size)
    }

    func makeAsyncIterator() -> Chunks { self }
}

private final class Count: @unchecked Sendable {
    // Unchecked: all that changes is behind the lock.
    private let lock = NSLock()
    private var count = 0

    func add() { lock.withLock { count += 1 } }

    var value: Int { lock.withLock { count } }
}
