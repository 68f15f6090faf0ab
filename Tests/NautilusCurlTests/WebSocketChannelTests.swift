import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("A web socket between its callers and a loop", .endsInTime)
struct WebSocketChannelTests {
    private let channel = WebSocketChannel(messageLimit: 1000, messagesAhead: 3) { 0 }
    private let wakes = Counter()

    private var wake: @Sendable () -> Void { { [wakes] in wakes.increment() } }

    private func take(_ frames: [UInt8]...) {
        Array(frames.joined()).withUnsafeBytes { channel.take($0) }
    }

    private func written() -> ClientFrame? { channel.nextFrame().flatMap { ClientFrame($0) } }

    /// Begins something, and waits until the loop is told of it.
    private func begin<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async -> Task<
        Value, any Error
    > {
        let before = wakes.value
        let task = Task { try await work() }
        while wakes.value == before { await Task.yield() }
        return task
    }

    private func send(_ text: String) async -> Task<Void, any Error> {
        await begin { [channel, wake] in try await channel.send(.text(text), wake: wake) }
    }

    private func receive() async throws -> WebSocketMessage { try await channel.receive(wake: wake) }

    private static let lost = TransportError(.networkConnectionLost)

    @Test("a web socket's channel reads no more than may wait, and goes on when the reader takes one")
    func pressure() async throws {
        #expect(channel.wantsInput)
        take(ServerFrame.text("1"), ServerFrame.text("2"))
        #expect(channel.wantsInput)
        take(ServerFrame.text("3"), ServerFrame.text("4"))
        #expect(!channel.wantsInput)
        #expect(try await receive() == .text("1"))
        // The input that was there already has taken the room.
        #expect(!channel.wantsInput)
        #expect(try await receive() == .text("2"))
        #expect(channel.wantsInput)
        #expect(wakes.value == 2)
        #expect(try await receive() == .text("3"))
        #expect(try await receive() == .text("4"))
        #expect(wakes.value == 2)
    }

    @Test("a web socket's channel stops reading after a few large messages")
    func bytes() async throws {
        let channel = WebSocketChannel(messageLimit: 1_000_000, messagesAhead: 3) { 0 }
        ServerFrame.data([UInt8](repeating: 7, count: 262_143)).withUnsafeBytes { channel.take($0) }
        #expect(channel.wantsInput)
        ServerFrame.data([7]).withUnsafeBytes { channel.take($0) }
        #expect(!channel.wantsInput)
    }

    @Test("a sender waits until all of its message is written")
    func sends() async throws {
        let first = await send("a")
        let second = await send("b")
        #expect(written()?.payload == Array("a".utf8))
        // Between messages.
        take(ServerFrame.ping("x"))
        #expect(written()?.firstByte == 0x8A)
        try await first.value
        #expect(written()?.payload == Array("b".utf8))
        #expect(channel.nextFrame() == nil)
        try await second.value
    }

    @Test("a web socket's channel does not send a message whose sender has left, unless it has begun")
    func leaves() async throws {
        let first = await send("a")
        let second = await send("b")
        let third = await send("c")
        #expect(written()?.payload == Array("a".utf8))
        first.cancel()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(written()?.payload == Array("c".utf8))
        #expect(channel.nextFrame() == nil)
        try await third.value
    }

    @Test("a web socket's channel tells senders what the server may have got when the connection breaks off")
    func delivery() async throws {
        let first = await send("a")
        let second = await send("b")
        let pinging = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        _ = written()
        _ = written()
        take(ServerFrame.text("last"))
        channel.disconnect()
        let notSent = TransportError(.networkConnectionLost, delivery: .notSent)
        await #expect(throws: Self.lost) { try await first.value }
        await #expect(throws: notSent) { try await second.value }
        await #expect(throws: Self.lost) { try await pinging.value }
        await #expect(throws: notSent) { try await channel.send(.text("c"), wake: wake) }
        #expect(try await receive() == .text("last"))
        await #expect(throws: Self.lost) { try await receive() }
        #expect(channel.isOver)
    }

    @Test("a reader hears of the server's closing behind the last message, and then only of that")
    func serverCloses() async throws {
        let waiting = await send("a")
        let closure = WebSocketClosure(4001, reason: "bye")
        take(ServerFrame.text("last"), ServerFrame.close(4001, "bye"), ServerFrame.text("too late"))
        await #expect(throws: closure) { try await waiting.value }
        #expect(channel.isClosing)
        #expect(channel.wantsInput)
        #expect(written()?.payload == [0x0F, 0xA1])
        #expect(channel.nextFrame() == nil)
        // The server ends it.
        #expect(!channel.isOver)
        channel.disconnect()
        #expect(channel.isOver)
        #expect(try await receive() == .text("last"))
        await #expect(throws: closure) { try await receive() }
        await #expect(throws: closure) { try await receive() }
        await #expect(throws: closure) { try await channel.send(.text("a"), wake: wake) }
        await #expect(throws: closure) { try await channel.ping(wake: wake) }
    }

    @Test("a ping hears of a pong that waited behind unread messages, once the reader makes room")
    func pongBehindMessages() async throws {
        let pinging = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        let payload = try #require(written()).payload
        take((1...3).flatMap { ServerFrame.text("\($0)") }, ServerFrame.bytes(0x8A, Array(payload)))
        #expect(try await receive() == .text("1"))
        try await pinging.value
    }

    @Test("senders, pings and closers hear of a closing behind unread messages, once the reader makes room")
    func closingBehindMessages() async throws {
        let sending = await send("a")
        let pinging = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        take((1...3).flatMap { ServerFrame.text("\($0)") }, ServerFrame.close(4001, "bye"))
        #expect(try await receive() == .text("1"))
        let closure = WebSocketClosure(4001, reason: "bye")
        await #expect(throws: closure) { try await sending.value }
        await #expect(throws: closure) { try await pinging.value }
    }

    @Test("a closing that waits behind unread messages is found, though the connection has ended")
    func lateClosing() async throws {
        let texts = (1...5).map { ServerFrame.text("\($0)") }
        take(Array(texts.joined()), ServerFrame.close(1000))
        channel.disconnect()
        for number in 1...5 { #expect(try await receive() == .text("\(number)")) }
        await #expect(throws: WebSocketClosure(.normalClosure)) { try await receive() }
    }

    @Test("a web socket closes once: waiters hear of it at once, and the closer when it is written")
    func closes() async throws {
        let reading = Task { try await receive() }
        let sending = await send("a")
        let closure = WebSocketClosure(4001, reason: "moved")
        channel.beginClosing(closure)
        channel.beginClosing(WebSocketClosure(.normalClosure))
        await #expect(throws: closure) { _ = try await reading.value }
        await #expect(throws: closure) { try await sending.value }
        let closing = await begin { [channel, wake] in try await channel.waitForClosing(wake: wake) }
        #expect(written()?.payload == [0x0F, 0xA1] + Array("moved".utf8))
        #expect(channel.nextFrame() == nil)
        try await closing.value
        try await channel.waitForClosing(wake: wake)
        #expect(!channel.isOver)
        take(ServerFrame.text("dropped"), ServerFrame.close(4001))
        #expect(channel.isOver)
        await #expect(throws: closure) { try await receive() }
    }

    @Test("a web socket's channel lets a message that has begun go before the closing")
    func closesBehind() async throws {
        let sending = await send("a")
        #expect(written()?.payload == Array("a".utf8))
        channel.beginClosing(WebSocketClosure(.goingAway))
        take(ServerFrame.close(1000))
        #expect(!channel.isOver)
        #expect(written()?.firstByte == 0x88)
        try await sending.value
        #expect(!channel.isOver)
        #expect(channel.nextFrame() == nil)
        #expect(channel.isOver)
    }

    @Test("a closer is freed when the connection is cut before")
    func cut() async throws {
        channel.beginClosing(WebSocketClosure(.goingAway))
        let closing = await begin { [channel, wake] in try await channel.waitForClosing(wake: wake) }
        channel.disconnect()
        try await closing.value
    }

    @Test(
        "a web socket's channel tells of a breach of the rules, and of the limit that was broken",
        arguments: WebSocketViolation.allCases
    )
    func fails(violation: WebSocketViolation) async throws {
        switch violation {
        case .protocolError: take(ServerFrame.bytes(0xC1))
        case .invalidPayload: take(ServerFrame.bytes(0x81, [0xFF]))
        case .messageTooBig: take(ServerFrame.data([UInt8](repeating: 7, count: 1001)))
        }
        #expect(written()?.payload == [0x03, UInt8(violation.code.rawValue & 0xFF)])
        let error = await #expect(throws: (any Error).self) { try await receive() }
        if violation == .messageTooBig {
            #expect(error as? TransportError == .responseTooLarge(limit: 1000))
        } else {
            #expect(error as? WebSocketClosure == WebSocketClosure(violation.code))
        }
    }

    @Test("a ping is answered by its pong or a later one, and a cancelled ping leaves the socket open")
    func pings() async throws {
        let first = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        let second = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        let third = await begin { [channel, wake] in try await channel.ping(wake: wake) }
        let frames = [written(), written(), written()]
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        take(ServerFrame.bytes(0x8A, frames[1]?.payload ?? []))
        try await first.value
        try await second.value
        #expect(!channel.isClosing)
    }

    @Test("a web socket's channel lets a reader who is cancelled go at once")
    func cancelled() async throws {
        let reading = Task { try await receive() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { _ = try await reading.value }
        take(ServerFrame.text("a"))
        #expect(try await receive() == .text("a"))
    }
}
