import Foundation
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

/// The cases of Autobahn's suite for web sockets, groups 1 to 7, as bytes for the machine without a socket: what is echoed,
/// what is answered, and by which code the connection fails.
@Suite("Autobahn's cases of a web socket")
struct WebSocketCaseTests {
    /// A machine whose user echoes every message; the frames that it writes.
    private func echoed(_ bytes: [UInt8], by size: Int = .max) -> [ClientFrame?] {
        var machine = WebSocketMachine(messageLimit: 16_777_216) { 0x0102_0304 }
        var frames: [ClientFrame?] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(size))
            rest = rest.dropFirst(part.count)
            part.withUnsafeBytes { machine.feed($0) }
            while let event = machine.next() {
                if case .message(let message) = event {
                    frames.append(machine.frame(message).flatMap { ClientFrame($0) })
                }
                while let frame = machine.dueFrame() { frames.append(ClientFrame(frame)) }
            }
            while let frame = machine.dueFrame() { frames.append(ClientFrame(frame)) }
        }
        return frames
    }

    private func closeCode(_ frame: ClientFrame??) -> UInt16? {
        guard let frame = frame ?? nil, frame.firstByte == 0x88, frame.payload.count == 2 else { return nil }
        return UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
    }

    @Test(
        "1.*: messages of every size of length go there and back",
        arguments: [0, 125, 126, 127, 128, 65_535, 65_536, 70_000],
        [1, 997, .max]
    )
    func framing(count: Int, size: Int) {
        let text = [UInt8](repeating: 0x2A, count: count)
        let data = [UInt8](repeating: 0xFE, count: count)
        let frames = echoed(ServerFrame.bytes(0x81, text) + ServerFrame.bytes(0x82, data), by: size)
        #expect(frames.map { $0?.firstByte } == [0x81, 0x82])
        #expect(frames.map { $0?.payload } == [text, data])
    }

    @Test("2.*: pings are answered with their data up to 125 bytes; unasked pongs mean nothing")
    func pings() {
        for payload in [[], Array("Hello".utf8), [0, 0xFF, 0xFE, 0xFD], [UInt8](repeating: 0xFE, count: 125)] {
            let frames = echoed(ServerFrame.bytes(0x89, payload), by: 1)
            #expect(frames.map { $0?.firstByte } == [0x8A])
            #expect(frames.map { $0?.payload } == [payload])
        }
        #expect(closeCode(echoed(ServerFrame.bytes(0x89, [UInt8](repeating: 0xFE, count: 126))).first) == 1002)
        #expect(echoed(ServerFrame.bytes(0x8A) + ServerFrame.bytes(0x8A, Array("unsolicited".utf8))).isEmpty)
        // 2.10, 2.11: ten at once.
        let ten = (0..<10).flatMap { ServerFrame.ping("\($0)") }
        for size in [1, .max] {
            #expect(echoed(ten, by: size).map { $0?.payload } == (0..<10).map { Array("\($0)".utf8) })
        }
    }

    @Test("3.* and 4.*: reserved bits and opcodes fail it, behind what came before", arguments: [1, .max])
    func reserved(size: Int) {
        let bits: [UInt8] = [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70]
        let opcodes: [UInt8] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF]
        let firstBytes =
            bits.flatMap { [0x81 | $0, 0x82 | $0, 0x88 | $0, 0x89 | $0, 0x8A | $0] } + opcodes.map { 0x80 | $0 }
        for firstByte in firstBytes {
            let bytes = ServerFrame.text("Hello") + ServerFrame.bytes(firstByte, [65]) + ServerFrame.ping("x")
            let frames = echoed(bytes, by: size)
            #expect(frames.count == 2)
            #expect(frames.first??.payload == Array("Hello".utf8))
            #expect(closeCode(frames.last) == 1002)
        }
    }

    @Test("5.*: fragments make one message, whatever stands between; others fail it", arguments: [1, .max])
    func fragmentation(size: Int) {
        let (first, second) = (
            ServerFrame.text("frag", isLast: false), ServerFrame.more(Array("ment".utf8), isLast: true)
        )
        let echo = Array("fragment".utf8)
        #expect(echoed(first + second, by: size).map { $0?.payload } == [echo])
        // 5.6: the pong comes first.
        let ponged = echoed(first + ServerFrame.ping("x") + second, by: size)
        #expect(ponged.compactMap { $0?.firstByte }.sorted() == [0x81, 0x8A])
        let broken = [
            // 5.1, 5.2: control frames in fragments.
            ServerFrame.bytes(0x09, [1]), ServerFrame.bytes(0x0A, [1]),
            // 5.9 to 5.14: continuations of nothing.
            second, ServerFrame.more([65], isLast: false), first + second + second,
            // 5.15 to 5.18: a message within another.
            first + ServerFrame.text("a"), first + ServerFrame.data([1]),
        ]
        for bytes in broken { #expect(closeCode(echoed(bytes, by: size).last) == 1002) }
        // 5.19, 5.20: many fragments and pings.
        var bytes: [UInt8] = ServerFrame.text("fragment1", isLast: false)
        for number in 2...4 {
            bytes += ServerFrame.more(Array("fragment\(number)".utf8), isLast: false) + ServerFrame.ping("p")
        }
        bytes += ServerFrame.more(Array("fragment5".utf8), isLast: true)
        let whole = (1...5).map { "fragment\($0)" }.joined()
        #expect(echoed(bytes, by: size).contains { $0?.payload == Array(whole.utf8) })
    }

    @Test("6.*: text that is UTF-8 goes there and back, in frames and in single bytes", arguments: Utf8Sequences.valid)
    func text(bytes: [UInt8]) {
        #expect(echoed(ServerFrame.bytes(0x81, bytes), by: 1).map { $0?.payload } == [bytes])
        var fragments = ServerFrame.bytes(0x01)
        for byte in bytes { fragments += ServerFrame.more([byte], isLast: false) }
        fragments += ServerFrame.more([], isLast: true)
        #expect(echoed(fragments).map { $0?.payload } == [bytes])
    }

    @Test("6.*: text that is not fails it with 1007", arguments: Utf8Sequences.invalid)
    func notText(bytes: [UInt8]) {
        #expect(closeCode(echoed(ServerFrame.bytes(0x81, bytes)).first) == 1007)
        var fragments = ServerFrame.bytes(0x01)
        for byte in bytes { fragments += ServerFrame.more([byte], isLast: false) }
        fragments += ServerFrame.more([], isLast: true)
        #expect(closeCode(echoed(fragments, by: 1).first) == 1007)
    }

    @Test("7.1.*: behind a closing nothing is answered")
    func behindClosing() {
        let bytes = ServerFrame.close(1000) + ServerFrame.close(1000) + ServerFrame.text("a") + ServerFrame.ping("x")
        for size in [1, .max] {
            let frames = echoed(bytes, by: size)
            #expect(frames.count == 1)
            #expect(closeCode(frames.first) == 1000)
        }
    }

    @Test("7.3.*: a closing without a code goes back without one; with the longest reason, with its code")
    func closingPayloads() {
        #expect(echoed(ServerFrame.bytes(0x88)).map { $0?.payload } == [[]])
        #expect(closeCode(echoed(ServerFrame.bytes(0x88, [65])).first) == 1002)
        #expect(closeCode(echoed(ServerFrame.close(1000, String(repeating: "*", count: 123))).first) == 1000)
        #expect(
            closeCode(echoed(ServerFrame.bytes(0x88, [3, 0xE8] + [UInt8](repeating: 0x2A, count: 124))).first) == 1002
        )
        // 7.5.1
        #expect(closeCode(echoed(ServerFrame.bytes(0x88, [3, 0xE8, 0xCE, 0xBA, 0xED, 0xA0, 0x80])).first) == 1007)
    }

    @Test(
        "7.7.*: codes that may be sent go back",
        arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] as [UInt16]
    )
    func codes(code: UInt16) {
        #expect(closeCode(echoed(ServerFrame.close(code)).first) == code)
    }

    @Test(
        "7.9.*, 7.13.*: codes that must not be sent fail it",
        arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] as [UInt16]
    )
    func badCodes(code: UInt16) {
        #expect(closeCode(echoed(ServerFrame.close(code)).first) == 1002)
    }
}

/// The sequences of Autobahn's group 6, after Markus Kuhn's stress test of decoders.
enum Utf8Sequences {
    static let valid: [[UInt8]] =
        [
            "", "κόσμε", "Hello-µ@ßöäüàá-UTF-8!!", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFFF}",
            "\u{10000}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10FFFF}", "\u{FFFE}", "\u{1FFFE}", "\u{10FFFE}",
        ].map { Array($0.utf8) }

    static let invalid: [[UInt8]] = [
        // Continuations alone, and first bytes alone.
        [0x80], [0xBF], [0x80, 0xBF], [0xC3, 0x20], [0xE1, 0x20], [0xF1, 0x20], [0xE1, 0x80, 0x20],
        [0xF1, 0x80, 0x80, 0x20],
        // Cut off.
        [0xC3], [0xE1], [0xE1, 0x80], [0xF1], [0xF1, 0x80], [0xF1, 0x80, 0x80],
        // Never.
        [0xFE], [0xFF], [0xC0], [0xC1, 0xBF], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80],
        // Longer than they have to be.
        [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF],
        [0xF0, 0x8F, 0xBF, 0xBF],
        // Surrogates, and above the last character.
        [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80],
        [0xF4, 0x90, 0x80, 0x80],
        // Behind something that is right.
        [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xED, 0xA0, 0x80, 0x65],
    ]
}
