import Foundation
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("The state machine of a web socket")
struct WebSocketMachineTests {
    private(set) var machine = WebSocketMachine(messageLimit: 1000) { 0x37FA_213D }

    private mutating func events(_ frames: [UInt8]...) -> [WebSocketMachine.Event] {
        Array(frames.joined()).withUnsafeBytes { machine.feed($0) }
        var events: [WebSocketMachine.Event] = []
        while let event = machine.next() { events.append(event) }
        return events
    }

    private mutating func due() -> ClientFrame? { machine.dueFrame().flatMap { ClientFrame($0) } }

    @Test("a web socket masks as in RFC 6455 §5.7")
    func masked() {
        let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(machine.frame(.text("Hello")) == bytes)
    }

    @Test(
        "a web socket masks every byte, and encodes the length as briefly as it can",
        arguments: [0, 1, 7, 8, 9, 125, 126, 65_535, 65_536]
    )
    func lengths(count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = try #require(machine.frame(.data(Data(payload))))
        #expect(bytes.count == count + (count < 126 ? 6 : count < 65_536 ? 8 : 14))
        let frame = try #require(ClientFrame(bytes))
        #expect(frame.firstByte == 0x82)
        #expect(frame.key == [0x37, 0xFA, 0x21, 0x3D])
        #expect(frame.payload == payload)
    }

    @Test("a web socket draws a key for every frame")
    func keys() {
        let drawn = Locked<UInt32>(0)
        var machine = WebSocketMachine(messageLimit: 1000) {
            drawn.withLock { key in
                key += 1
                return key
            }
        }
        _ = machine.ping()
        let frames = [machine.frame(.text("a")), machine.frame(.text("a")), machine.dueFrame()]
        #expect(frames.map { $0.flatMap { ClientFrame($0) }?.key } == [[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 3]])
    }

    @Test("a web socket answers pings with their data, of many the last sixteen")
    mutating func pings() {
        #expect(events(ServerFrame.ping("a"), ServerFrame.ping("b")).isEmpty)
        #expect([due()?.payload, due()?.payload] == [Array("a".utf8), Array("b".utf8)])
        #expect(due() == nil)
        for number in 0..<100 { #expect(events(ServerFrame.ping("\(number)")).isEmpty) }
        for number in 84..<100 { #expect(due()?.payload == Array("\(number)".utf8)) }
        #expect(due() == nil)
    }

    @Test("a web socket knows the pongs of its own pings, and of no others")
    mutating func pongs() throws {
        _ = machine.ping()
        let number = machine.ping()
        let frames = [try #require(due()), try #require(due())]
        #expect(frames.map(\.firstByte) == [0x89, 0x89])
        #expect(Set(frames.map(\.payload)).count == 2)
        #expect(events(ServerFrame.bytes(0x8A, frames[1].payload)) == [.pong(number)])
        #expect(events(ServerFrame.bytes(0x8A, [0, 0, 0, 0, 0, 0, 0, 3])).isEmpty)
        #expect(events(ServerFrame.bytes(0x8A, [0, 0, 0, 0, 0, 0, 0, 0])).isEmpty)
        #expect(events(ServerFrame.bytes(0x8A), ServerFrame.bytes(0x8A, [1, 2])).isEmpty)
    }

    @Test("a socket that the server closes echoes the code without the reason, and sends nothing more")
    mutating func serverCloses() {
        let closure = WebSocketClosure(4001, reason: "bye")
        let seen = events(
            ServerFrame.ping("x"),
            ServerFrame.text("a"),
            ServerFrame.close(4001, "bye"),
            ServerFrame.text("b")
        )
        #expect(seen == [.message(.text("a")), .closed(closure)])
        #expect(machine.phase == .leaving)
        #expect(due() == ClientFrame(WebSocketFrame.encoded(.close, Data([0x0F, 0xA1]), key: 0x37FA_213D)))
        #expect(due() == nil)
        #expect(machine.frame(.text("a")) == nil)
        _ = machine.ping()
        machine.close(WebSocketClosure(.normalClosure))
        #expect(due() == nil)
        #expect(events(ServerFrame.text("c"), ServerFrame.close(1000)).isEmpty)
    }

    @Test("a socket that this end closes drops incoming messages until the server has closed as well")
    mutating func clientCloses() {
        #expect(events(ServerFrame.text("a", isLast: false), ServerFrame.ping("x")).isEmpty)
        machine.close(WebSocketClosure(.goingAway, reason: "so"))
        #expect(machine.phase == .closing)
        #expect(due()?.payload == [0x03, 0xE9] + Array("so".utf8))
        #expect(machine.frame(.text("a")) == nil)
        machine.close(WebSocketClosure(.normalClosure))
        #expect(events(ServerFrame.more([0xFF], isLast: true), ServerFrame.ping("y"), ServerFrame.text("b")).isEmpty)
        #expect(due() == nil)
        #expect(machine.phase == .closing)
        #expect(events(ServerFrame.close(1001)).isEmpty)
        #expect(machine.phase == .closed)
        #expect(due() == nil)
    }

    @Test("a server that breaks the rules after our closing frame is disconnected without another frame")
    mutating func brokenClosing() {
        machine.close(WebSocketClosure(.normalClosure))
        #expect(due()?.firstByte == 0x88)
        #expect(events(ServerFrame.bytes(0xC1)).isEmpty)
        #expect(machine.phase == .closed)
        #expect(due() == nil)
    }

    @Test("a web socket fails with the code that fits, and reads nothing more", arguments: WebSocketViolation.allCases)
    func fails(violation: WebSocketViolation) {
        var copy = self
        let bytes: [UInt8] =
            switch violation {
            case .protocolError: ServerFrame.bytes(0xC1)
            case .invalidPayload: ServerFrame.bytes(0x81, [0xFF])
            case .messageTooBig: ServerFrame.data([UInt8](repeating: 7, count: 1001))
            }
        #expect(copy.events(ServerFrame.ping("x"), bytes, ServerFrame.text("a")) == [.failed(violation)])
        #expect(copy.due()?.payload == [0x03, UInt8(violation.code.rawValue & 0xFF)])
        #expect(copy.due() == nil)
        #expect(copy.machine.phase == .leaving)
    }

    @Test("a web socket leaves out a code that must not be sent, and a reason that does not fit")
    func payloads() {
        #expect(WebSocketClosure(.abnormalClosure, reason: "a").payload.isEmpty)
        #expect(WebSocketClosure(4000, reason: String(repeating: "a", count: 123)).payload.count == 125)
        #expect(WebSocketClosure(4000, reason: String(repeating: "a", count: 124)).payload.count == 2)
    }
}
