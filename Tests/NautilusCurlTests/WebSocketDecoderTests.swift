import Foundation
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("The frames of a web socket's server")
struct WebSocketDecoderTests {
    @Test(
        "a web socket server's frames are read as in RFC 6455 §5.7",
        arguments: [
            ([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], [.message(.text("Hello"))]),
            ([0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f], [.message(.text("Hello"))]),
            ([0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], [.ping(Array("Hello".utf8))]),
            ([0x8a, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], [.pong(Array("Hello".utf8))]),
            (
                [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
                [.message(.data(Data(repeating: 7, count: 256)))]
            ),
            (
                [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536),
                [.message(.data(Data(repeating: 7, count: 65_536)))]
            ),
        ] as [([UInt8], [WebSocketDecoder.Item])]
    )
    func examples(bytes: [UInt8], items: [WebSocketDecoder.Item]) {
        #expect(Decoded(bytes, limit: 65_536).items == items)
        #expect(Decoded(bytes, by: [1], limit: 65_536).items == items)
    }

    @Test("fragments are put together to messages, with control frames in between", arguments: [1, 2, 3, 7, .max])
    func fragments(size: Int) {
        let bytes =
            ServerFrame.text("he", isLast: false) + ServerFrame.ping("x") + ServerFrame.more([], isLast: false)
            + ServerFrame.bytes(0x8A, [1, 2]) + ServerFrame.more(Array("llo".utf8), isLast: true)
            + ServerFrame.data([1], isLast: false) + ServerFrame.more([2], isLast: true) + ServerFrame.text("")
            + ServerFrame.close(1000, "bye")
        let items: [WebSocketDecoder.Item] = [
            .ping([0x78]), .pong([1, 2]), .message(.text("hello")), .message(.data(Data([1, 2]))), .message(.text("")),
            .close(WebSocketClosure(.normalClosure, reason: "bye")),
        ]
        let decoded = Decoded(bytes, by: [size])
        #expect(decoded.items == items)
        #expect(decoded.violation == nil)
    }

    @Test(
        "frames against the rules end the connection with the right code, in whatever pieces they arrive",
        arguments: BrokenFrames.all
    )
    func broken(frames: BrokenFrames) {
        let before = ServerFrame.text("before")
        for size in [1, 2, .max] {
            let decoded = Decoded(before + frames.bytes, by: [size])
            #expect(decoded.items.first == .message(.text("before")))
            #expect(decoded.violation?.code.rawValue == frames.code)
        }
    }

    @Test(
        "a web socket server's frames are refused at the first byte that is wrong",
        arguments: BrokenFrames.all.filter { $0.decisive != nil }
    )
    func early(frames: BrokenFrames) throws {
        let decisive = try #require(frames.decisive)
        #expect(Decoded(Array(frames.bytes.prefix(decisive - 1))).violation == nil)
        #expect(Decoded(Array(frames.bytes.prefix(decisive))).violation?.code.rawValue == frames.code)
    }

    @Test("a web socket message may have the limit's size, and not one byte more")
    func limit() {
        let most = [UInt8](repeating: 7, count: 1000)
        #expect(Decoded(ServerFrame.data(most)).items == [.message(.data(Data(most)))])
        let fragments = ServerFrame.data(Array(most.prefix(600)), isLast: false)
        let rest = ServerFrame.more(Array(most.suffix(400)), isLast: true)
        #expect(Decoded(fragments + rest).items == [.message(.data(Data(most)))])
        // The headers alone decide.
        #expect(Decoded([0x82, 126, 0x03, 0xE9]).violation == .messageTooBig)
        #expect(Decoded(fragments + [0x80, 126, 0x01, 0x91]).violation == .messageTooBig)
        #expect(Decoded([0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7)).violation == .messageTooBig)
        #expect(Decoded([0x82, 127, 0x80] + [UInt8](repeating: 0, count: 7)).violation == .protocolError)
        #expect(Decoded(ServerFrame.data([]), limit: 0).items == [.message(.data(Data()))])
        #expect(Decoded([0x82, 1], limit: 0).violation == .messageTooBig)
    }

    @Test("skipped frames are read up to the closing frame, whatever their size and text")
    func dropping() throws {
        var decoder = WebSocketDecoder(messageLimit: 10)
        let begun = ServerFrame.text("a", isLast: false)
        begun.withUnsafeBytes { decoder.feed($0) }
        #expect(try decoder.next() == nil)
        decoder.isDropping = true
        let rest =
            ServerFrame.more([0xFF], isLast: true) + ServerFrame.data([UInt8](repeating: 7, count: 70_000))
            + ServerFrame.bytes(0x81, [0xC3]) + ServerFrame.close(1000)
        rest.withUnsafeBytes { decoder.feed($0) }
        #expect(try decoder.next() == .close(WebSocketClosure(.normalClosure)))
    }
}

/// Frames that no server may send, and the code that says so.
struct BrokenFrames: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: UInt16
    let bytes: [UInt8]
    /// How many bytes have to come to be sure; nil where the frame has to be complete.
    let decisive: Int?

    private init(_ name: String, _ code: UInt16, _ bytes: [UInt8], decisive: Int? = nil) {
        (testDescription, self.code, self.bytes, self.decisive) = (name, code, bytes, decisive)
    }

    static let all = [
        BrokenFrames("a masked frame (§5.1)", 1002, ServerFrame.bytes(0x81, [65], mask: [1, 2, 3, 4]), decisive: 2),
        BrokenFrames("the first reserved bit (§5.2)", 1002, ServerFrame.bytes(0xC1, [65]), decisive: 1),
        BrokenFrames("the second", 1002, ServerFrame.bytes(0xA1, [65]), decisive: 1),
        BrokenFrames("the third", 1002, ServerFrame.bytes(0x91, [65]), decisive: 1),
        BrokenFrames("a reserved opcode", 1002, ServerFrame.bytes(0x83), decisive: 1),
        BrokenFrames("the last of them", 1002, ServerFrame.bytes(0x87), decisive: 1),
        BrokenFrames("a reserved control opcode", 1002, ServerFrame.bytes(0x8B), decisive: 1),
        BrokenFrames("the last of those", 1002, ServerFrame.bytes(0x8F), decisive: 1),
        BrokenFrames("a length of 16 bits that needs 7", 1002, [0x82, 126, 0, 125], decisive: 4),
        BrokenFrames(
            "a length of 64 bits that needs 16",
            1002,
            [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            decisive: 10
        ),
        BrokenFrames("a length of 2⁶³", 1002, [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], decisive: 10),
        BrokenFrames("a continuation of nothing (§5.4)", 1002, ServerFrame.more([65], isLast: true), decisive: 1),
        BrokenFrames(
            "a message within another",
            1002,
            ServerFrame.text("a", isLast: false) + ServerFrame.text("b"),
            decisive: 4
        ),
        BrokenFrames("a ping in fragments (§5.5)", 1002, ServerFrame.bytes(0x09), decisive: 1),
        BrokenFrames("a ping of 126 bytes", 1002, ServerFrame.ping(String(repeating: "a", count: 126)), decisive: 2),
        BrokenFrames("a closing of one byte (§5.5.1)", 1002, ServerFrame.bytes(0x88, [3])),
        BrokenFrames("a reason that is not UTF-8", 1007, ServerFrame.bytes(0x88, [0x03, 0xE8, 0xFF])),
        BrokenFrames("a text that is not UTF-8 (§8.1)", 1007, ServerFrame.bytes(0x81, [0xC3, 0x28, 65]), decisive: 4),
        BrokenFrames("half a character", 1007, ServerFrame.bytes(0x81, [0xC3])),
        BrokenFrames(
            "fragments that are not UTF-8 together",
            1007,
            ServerFrame.text("a", isLast: false) + ServerFrame.more([0xC3], isLast: false)
                + ServerFrame.more([0x28, 65], isLast: true),
            decisive: 9
        ),
        BrokenFrames(
            "a message above the limit",
            1009,
            ServerFrame.data([UInt8](repeating: 7, count: 1001)),
            decisive: 4
        ),
    ]
}
