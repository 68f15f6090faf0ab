import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("Fuzzed frames of a web socket")
struct WebSocketFuzzTests {
    @Test("fuzzed frames of a web socket mean the same in pieces of any size, and never trap", arguments: 0..<20)
    func pieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<trials(50) {
            var bytes = Self.frames(using: &generator)
            if Bool.random(using: &generator), !bytes.isEmpty {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
                        in: .min ... .max,
                        using: &generator
                    )
                }
            }
            let whole = Decoded(bytes)
            let sizes = (0..<50).map { _ in Int.random(in: 1...20, using: &generator) }
            #expect(Decoded(bytes, by: [1]) == whole)
            #expect(Decoded(bytes, by: sizes) == whole)
        }
    }

    @Test("garbage for an answer is an error or an answer in pieces as at once", arguments: 0..<20)
    func garbageAnswers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let url = try #require(URL(string: "ws://127.0.0.1/"))
        let request = try WebSocketOpeningRequest(HttpRequest(url: url), key: [UInt8](repeating: 7, count: 16))
        let good = Array(
            """
            HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r
            Sec-WebSocket-Accept: \(request.acceptance)\r\n\r\n
            """.utf8
        )
        let chunked = Array(
            "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".utf8
        )
        for _ in 0..<trials(50) {
            var bytes = Bool.random(using: &generator) ? good : chunked
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
            }
            let whole = AnswerProbe(bytes, to: request)
            #expect(AnswerProbe(bytes, to: request, by: 1) == whole)
            #expect(AnswerProbe(bytes, to: request, by: .random(in: 2...9, using: &generator)) == whole)
        }
    }

    /// Frames that are mostly right.
    private static func frames(using generator: inout SeededGenerator) -> [UInt8] {
        var (bytes, isOpen) = ([UInt8](), false)
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let count = [0, 1, 5, 125, 126, 300].randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes += ServerFrame.ping(String(repeating: "p", count: min(count, 125)))
            case 1: bytes += ServerFrame.close(1000, "so")
            default:
                let isLast = Bool.random(using: &generator)
                let text = Array(String(repeating: "é", count: count).utf8)
                bytes += ServerFrame.bytes((isLast ? 0x80 : 0) | (isOpen ? 0 : 1), text)
                isOpen = !isLast
            }
        }
        return bytes
    }
}
