import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The end of a socket, from either side", .whereAvailable, .timeLimit(.minutes(10)))
struct ClosingTests {
    @Test(
        "the server's closing comes behind the last message, and its code goes back",
        arguments: [(1000, "bye"), (1011, ""), (3000, "é"), (4999, "")] as [(UInt16, String)]
    )
    func server(code: UInt16, reason: String) async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: .text("last"), .close(code, reason), .text("too late"))
            await heard.add(try await connection.readFrame())
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("last"))
            let closure = WebSocketClosure(.init(rawValue: code), reason: reason)
            await #expect(throws: closure) { try await connection.receive() }
            await #expect(throws: closure) { try await connection.receive() }
            await #expect(throws: closure) { try await connection.send(.text("a")) }
            await #expect(throws: closure) { try await connection.ping() }
            await heard.wait()
            #expect(await heard.frames.map(\.closeCode) == [code])
        }
    }

    @Test("a closing without a code is 1005, and goes back without one")
    func noCode() async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: RawFrame(firstByte: 0x88))
            await heard.add(try await connection.readFrame())
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            await #expect(throws: WebSocketClosure(.noStatusReceived)) { try await connection.receive() }
            await heard.wait()
            #expect(await heard.frames.map(\.firstByte) == [0x88])
            #expect(await heard.frames.map(\.payload) == [[]])
        }
    }

    @Test("closing tells the server the code and the reason, and whoever waits; then the connection ends")
    func client() async throws {
        let (heard, left) = (Heard(), Signal())
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            let frame = try await connection.readFrame()
            await heard.add(frame)
            try await connection.write(RawFrame(firstByte: 0x88, payload: Array(frame.payload.prefix(2))))
            // The client ends the connection once both have closed.
            #expect(await connection.readToEnd().isEmpty)
            left.fire()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            let reading = Task { try await connection.receive() }
            let closure = WebSocketClosure(4001, reason: "moved")
            await connection.close(closure)
            await connection.close(WebSocketClosure(1000))
            await #expect(throws: closure) { _ = try await reading.value }
            await #expect(throws: closure) { try await connection.send(.text("a")) }
            await left.wait()
            let frame = await heard.frames.first
            #expect(frame?.closeCode == 4001)
            #expect(frame?.payload.dropFirst(2) == Array("moved".utf8)[...])
            #expect(frame?.mask != nil)
        }
    }

    @Test(
        "a connection that breaks off is an error behind what has come, and later messages are not sent",
        arguments: [true, false]
    )
    func brokenOff(inOrder: Bool) async throws {
        let isRead = Signal()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: .text("last"))
            await isRead.wait()
            if !inOrder { await connection.reset() }
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("last"))
            let pinging = Task { try await connection.ping() }
            isRead.fire()
            let lost = Failure(code: .networkConnectionLost, delivery: .maybeExecuted)
            #expect(try await failed { try await connection.receive() } == lost)
            let notSent = Failure(code: .networkConnectionLost, delivery: .notSent)
            #expect(try await failed { try await connection.send(.text("a")) } == notSent)
            #expect(try await failed { try await pinging.value }?.code == .networkConnectionLost)
        }
    }

    @Test(
        "messages that came before the connection ended are read, even if a sender notices the end first",
        arguments: [true, false]
    )
    func endFoundBySender(isClosed: Bool) async throws {
        let (isWritten, messages) = (Signal(), (0..<100).map { "\($0) " + String(repeating: "x", count: 1000) })
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            for message in messages { try await connection.write(RawFrame.text(message)) }
            if isClosed { try await connection.write(RawFrame.close(1000)) }
            await connection.close()
            isWritten.fire()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            await isWritten.wait()
            // The first that comes to a connection that has ended may still be taken by the system.
            var failures: [any Error] = []
            for _ in 0..<1000 where failures.isEmpty {
                do { try await connection.send(.text("a")) } catch { failures.append(error) }
            }
            #expect(failures.count == 1)
            for message in messages { #expect(try await connection.receive() == .text(message)) }
            if isClosed {
                await #expect(throws: WebSocketClosure(1000)) { try await connection.receive() }
            } else {
                #expect(try await failed { try await connection.receive() }?.code == .networkConnectionLost)
            }
        }
    }

    @Test("a server that resets the connection right behind its 101 leaves nobody waiting")
    func reset() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            await connection.reset()
        } whileOpen: { server in
            for _ in 0..<20 {
                // Whether the socket was open for a moment is chance; that it is lost is not.
                let failure = try await failed { try await openSocket(server.socketUrl).receive() }
                #expect(failure == Failure(code: .networkConnectionLost, delivery: .maybeExecuted))
            }
        }
    }

    @Test(
        "releasing the connection closes it with 1001, and so does cancelling the reader, at once",
        arguments: [true, false]
    )
    func left(byRelease: Bool) async throws {
        let (heard, left) = (Heard(), Signal())
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            let frame = try await connection.readFrame()
            await heard.add(frame)
            try await connection.write(RawFrame(firstByte: 0x88, payload: frame.payload))
            _ = await connection.readToEnd()
            left.fire()
        } whileOpen: { server in
            var connection: (any WebSocketConnection)? = try await openSocket(server.socketUrl)
            if byRelease {
                connection = nil
            } else {
                let reading = Task { [connection] in try await connection?.receive() }
                reading.cancel()
                await #expect(throws: CancellationError.self) { _ = try await reading.value }
                await #expect(throws: WebSocketClosure(.goingAway)) { try await connection?.receive() }
            }
            await left.wait()
            #expect(await heard.frames.map(\.closeCode) == [1001])
            withExtendedLifetime(connection) {}
        }
    }
}
