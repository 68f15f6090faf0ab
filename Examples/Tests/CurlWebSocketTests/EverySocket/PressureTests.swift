import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Backpressure over a real socket", .whereAvailable, .timeLimit(.minutes(10)))
struct PressureTests {
    /// More than the system's buffers hold on both sides together, in messages of 256 KiB.
    private static let messageCount = 1000
    private static let bound = 300

    @Test("a slow reader holds up the server")
    func slowReader() async throws {
        let written = Shared(0)
        try await ScriptedServer.run { connection in
            let request = try await connection.acceptSocket()
            if request.path == "/echo" { return try await Self.echo(connection) }
            let message = RawFrame.data([UInt8](repeating: 7, count: 262_144)).bytes
            for _ in 0..<Self.messageCount {
                try await connection.write(message)
                written.withLock { $0 += 1 }
            }
            try await connection.write(.close(1000))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            try await Self.letTimePass(server)
            #expect(written.withLock { $0 } < Self.bound)
            for _ in 0..<Self.messageCount { #expect(try await connection.receive() == Self.message) }
            await #expect(throws: WebSocketClosure(.normalClosure)) { try await connection.receive() }
        }
    }

    @Test("a slow server holds up the sender, whom cancelling frees")
    func slowServer() async throws {
        let sent = Shared(0)
        try await ScriptedServer.run { connection in
            let request = try await connection.acceptSocket()
            if request.path == "/echo" { return try await Self.echo(connection) }
            try await connection.ignore()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            let sending = Task {
                while true {
                    try await connection.send(Self.message)
                    sent.withLock { $0 += 1 }
                }
            }
            try await Self.letTimePass(server)
            let count = sent.withLock { $0 }
            #expect(count < Self.bound)
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    private static let message = WebSocketMessage.data(Data(repeating: 7, count: 262_144))

    /// Keeps another socket of the same threads busy: a sender that is not held up gets far meanwhile.
    private static func letTimePass(_ server: ScriptedServer) async throws {
        let url = server.url(scheme: "ws", host: "127.0.0.1").appendingPathComponent("echo")
        let other = try await openSocket(url)
        for number in 0..<1000 {
            try await other.send(.text("\(number)"))
            #expect(try await other.receive() == .text("\(number)"))
        }
    }

    private static func echo(_ connection: ScriptedConnection) async throws {
        while true {
            let frame = try await connection.readFrame()
            try await connection.write(RawFrame(firstByte: frame.firstByte, payload: frame.payload))
        }
    }
}
