import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("GzipFrame")
struct GzipFrameTests {
    @Test("the tail of a gzip frame has checksum and size, lowest byte first, whatever the chunks")
    func tail() {
        let bytes = Data("123456789".utf8)
        var (once, twice) = (GzipFrame(), GzipFrame())
        once.take(bytes)
        twice.take(bytes.prefix(4))
        twice.take(bytes.dropFirst(4))
        // The check value of CRC-32, and nine.
        #expect(once.tail == Data([0x26, 0x39, 0xF4, 0xCB, 9, 0, 0, 0]))
        #expect(twice.tail == once.tail)
        #expect(GzipFrame().tail == Data(count: 8))
        #expect(GzipFrame.head == Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]))
    }
}
