import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Random UUIDs, drawn without a file")
struct RandomUUIDTests {
    @Test("random UUIDs are of version 4, and no two are the same")
    func version() {
        let drawn = (0..<1_000).map { _ in UUID.random() }
        #expect(Set(drawn).count == 1_000)
        #expect(drawn.allSatisfy { $0.uuid.6 & 0xF0 == 0x40 && $0.uuid.8 & 0xC0 == 0x80 })
        // All other bits are drawn.
        let bits = drawn.reduce(into: [UInt8](repeating: 0, count: 16)) { bits, id in
            withUnsafeBytes(of: id.uuid) { for index in 0..<16 { bits[index] |= $0[index] } }
        }
        #expect(bits == [UInt8](repeating: 0xFF, count: 6) + [0x4F, 0xFF, 0xBF] + [UInt8](repeating: 0xFF, count: 7))
    }
}
