import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Frames over a real socket, byte by byte", .whereAvailable, .timeLimit(.minutes(10)))
struct FrameTests {
    @Test("a client masks each frame with a key of its own, and sends text as text and data as data")
    func masked() async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            for _ in 0..<3 { await heard.add(try await connection.readFrame()) }
            try await connection.write(.text("done"))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            try await connection.send(.text("héllo"))
            try await connection.send(.data(Data([0, 255])))
            try await connection.send(.data(Data(count: 70_000)))
            #expect(try await connection.receive() == .text("done"))
            let frames = await heard.frames
            #expect(frames.map(\.firstByte) == [0x81, 0x82, 0x82])
            #expect(frames.map(\.payload) == [Array("héllo".utf8), [0, 255], Array(repeating: 0, count: 70_000)])
            #expect(Set(frames.compactMap(\.mask)).count == 3)
        }
    }

    @Test("fragments are put together, empty ones included, with control frames in between")
    func fragments() async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            try await connection.write(
                .text("he", isLast: false),
                .ping("x"),
                .continuation([], isLast: false),
                .pong([1, 2, 3]),
                .continuation(Array("llo".utf8), isLast: true),
                .data([1], isLast: false),
                .continuation([2], isLast: true),
                .text("")
            )
            await heard.add(try await connection.readFrame())
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("hello"))
            #expect(try await connection.receive() == .data(Data([1, 2])))
            #expect(try await connection.receive() == .text(""))
            await heard.wait()
        }
        #expect(await heard.frames.map(\.firstByte) == [0x8A])
        #expect(await heard.frames.map(\.text) == ["x"])
    }

    @Test("a character that is split between two fragments is whole again")
    func splitCharacter() async throws {
        let bytes = Array("é".utf8)
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            try await connection.write(
                RawFrame(firstByte: 0x01, payload: [bytes[0]]),
                .continuation([bytes[1]], isLast: true)
            )
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("é"))
        }
    }

    @Test("a frame that comes byte by byte is one message")
    func trickle() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            for byte in RawFrame.text("slowly").bytes { try await connection.write(Data([byte])) }
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("slowly"))
        }
    }

    @Test("a frame that a server must not send closes the socket with its code", arguments: ForbiddenFrames.all)
    func forbidden(frames: ForbiddenFrames) async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            try await connection.write(.text("before"))
            try await connection.write(Data(frames.frames.map(\.bytes).joined()))
            await heard.add(try await connection.readFrame())
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("before"))
            let expected = WebSocketClosure(.init(rawValue: frames.code))
            await #expect(throws: expected) { try await connection.receive() }
            await #expect(throws: expected) { try await connection.send(.text("a")) }
            await heard.wait()
            #expect(await heard.frames.map(\.closeCode) == [frames.code])
        }
    }

    @Test("a message up to the limit is taken; one more byte closes with 1009", arguments: [false, true])
    func tooLarge(inFragments: Bool) async throws {
        let heard = Heard()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            for count in [1000, 1001] {
                let bytes = [UInt8](repeating: 7, count: count)
                if inFragments {
                    try await connection.write(.data(Array(bytes.prefix(600)), isLast: false))
                    try await connection.write(.continuation(Array(bytes.dropFirst(600)), isLast: true))
                } else {
                    try await connection.write(.data(bytes))
                }
            }
            await heard.add(try await connection.readFrame())
        } whileOpen: { server in
            let transport = SocketsUnderTest.make(messageLimit: 1000)
            let connection = try await openSocket(server.socketUrl, through: transport)
            #expect(try await connection.receive() == .data(Data(repeating: 7, count: 1000)))
            let error = TransportError.responseTooLarge(limit: 1000)
            await #expect(throws: error) { try await connection.receive() }
            await #expect(throws: error) { try await connection.send(.text("a")) }
            await heard.wait()
            #expect(await heard.frames.map(\.closeCode) == [1009])
        }
    }

    @Test("a ping waits for its pong, and another's does not count")
    func ping() async throws {
        let (pinged, answered) = (Signal(), Signal())
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            let ping = try await connection.readFrame()
            try await connection.write(.pong([]), .pong([9]), .text("not yet"))
            pinged.fire()
            await answered.wait()
            try await connection.write(.pong(ping.payload))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            let pinging = Task { try await connection.ping() }
            await pinged.wait()
            // It came behind two pongs.
            #expect(try await connection.receive() == .text("not yet"))
            answered.fire()
            try await pinging.value
        }
    }

    @Test("the pong of a later ping answers the earlier ones (RFC 6455 §5.5.3)")
    func latePong() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            _ = try await connection.readFrame()
            let last = try await connection.readFrame()
            try await connection.write(.pong(last.payload))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            async let first: Void = connection.ping()
            async let second: Void = connection.ping()
            _ = try await (first, second)
        }
    }

    @Test("a ping that is cancelled leaves the socket open")
    func cancelledPing() async throws {
        let pinged = Signal()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            _ = try await connection.readFrame()
            pinged.fire()
            let frame = try await connection.readFrame()
            try await connection.write(RawFrame(firstByte: frame.firstByte, payload: frame.payload))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            let pinging = Task { try await connection.ping() }
            await pinged.wait()
            pinging.cancel()
            await #expect(throws: CancellationError.self) { try await pinging.value }
            try await connection.send(.text("still here"))
            #expect(try await connection.receive() == .text("still here"))
        }
    }
}

/// The frames that a server has heard.
actor Heard {
    private(set) var frames: [RawFrame] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func add(_ frame: RawFrame) {
        frames.append(frame)
        waiting.forEach { $0.resume() }
        waiting = []
    }

    /// Returns once it has heard anything.
    func wait() async {
        guard frames.isEmpty else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}

/// Frames against the rules, and the code that says so.
struct ForbiddenFrames: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: UInt16
    let frames: [RawFrame]

    private init(_ name: String, _ code: UInt16, _ frames: RawFrame...) {
        (testDescription, self.code, self.frames) = (name, code, frames)
    }

    static let all = [
        ForbiddenFrames("a masked frame (§5.1)", 1002, RawFrame(firstByte: 0x81, mask: [1, 2, 3, 4], payload: [65])),
        ForbiddenFrames("a reserved bit (§5.2)", 1002, RawFrame(firstByte: 0xC1, payload: [65])),
        ForbiddenFrames(
            "a reserved bit in a fragment",
            1002,
            .text("a", isLast: false),
            RawFrame(firstByte: 0xA0, payload: [65])
        ),
        ForbiddenFrames("a reserved opcode", 1002, RawFrame(firstByte: 0x83)),
        ForbiddenFrames("a reserved control opcode", 1002, RawFrame(firstByte: 0x8B)),
        ForbiddenFrames("a continuation of nothing (§5.4)", 1002, .continuation([65], isLast: true)),
        ForbiddenFrames("a message within another", 1002, .text("a", isLast: false), .text("b")),
        ForbiddenFrames("a ping in fragments (§5.5)", 1002, RawFrame(firstByte: 0x09)),
        ForbiddenFrames("a ping of 126 bytes", 1002, .ping(String(repeating: "a", count: 126))),
        ForbiddenFrames("a closing of one byte (§5.5.1)", 1002, RawFrame(firstByte: 0x88, payload: [3])),
        ForbiddenFrames("a closing by 1006 (§7.4.1)", 1002, .close(1006)),
        ForbiddenFrames("a closing by 2999", 1002, .close(2999)),
        ForbiddenFrames("a closing by 5000", 1002, .close(5000)),
        ForbiddenFrames("a reason that is not UTF-8", 1007, RawFrame(firstByte: 0x88, payload: [0x03, 0xE8, 0xFF])),
        ForbiddenFrames("a text that is not UTF-8 (§8.1)", 1007, RawFrame(firstByte: 0x81, payload: [0xC3, 0x28])),
        ForbiddenFrames("a text with a surrogate", 1007, RawFrame(firstByte: 0x81, payload: [0xED, 0xA0, 0x80])),
        ForbiddenFrames(
            "fragments that are not UTF-8 together",
            1007,
            .text("a", isLast: false),
            .continuation([0xC3], isLast: true)
        ),
    ]
}
