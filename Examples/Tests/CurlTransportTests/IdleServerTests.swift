import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A server that does not read", .timeLimit(.minutes(10)), .whereAvailable)
struct IdleServerTests {
    /// A gigabyte, of which a server that reads nothing takes no more than the system's buffers hold.
    private static let (chunk, count) = (1 << 16, 1 << 14)

    @Test("a server that does not read holds up a large upload, whose body is not made ahead")
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

    @Test("nobody waits for a server to read once its answer is complete", arguments: Self.answers)
    func answered(lines: String, status: Int, text: String) async throws {
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.write("HTTP/1.1 \(lines)")
            try await connection.ignore()
        } whileOpen: { server in
            let stream = HttpBodyStream { Chunks(left: Self.count, size: Self.chunk, made: Count()) }
            for body in [.data(Data(count: 1 << 26)), .stream(stream)] as [HttpBody.Payload] {
                let response = try await send(.put, server.url, body: body)
                #expect(response.status == status)
                #expect(response.text == text)
            }
        }
    }

    private static let answers = [
        ("200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"), ("204 No Content\r\n\r\n", 204, ""),
    ]

    @Test("little of an upload is in the system's buffers while the server does not read")
    func unsent() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
            try await connection.hang()
        } whileOpen: { server in
            let transport = TransportUnderTest.make()
            _ = try await send(.put, server.url, body: .data(Data(count: 10)), through: transport)
            let mostUnsent = try OpenDescriptors.connected(to: server.port).map {
                try OpenDescriptors.option(TCP_NOTSENT_LOWAT, of: $0)
            }
            #expect(mostUnsent == [131_072])
        }
    }

    @Test("a cancellation ends the upload of a large body to a server that does not read")
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
