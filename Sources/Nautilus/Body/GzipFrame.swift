import Foundation

/// The frame of compressed bytes: head and tail of a gzip member (RFC 1952 §2.3).
struct GzipFrame: Sendable {
    /// The head: DEFLATE, no name, no time, no system.
    static let head = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    private var checksum = UInt32.max
    private var count: UInt32 = 0

    /// Takes note of bytes before they are compressed.
    mutating func take(_ bytes: Data) {
        count &+= UInt32(truncatingIfNeeded: bytes.count)
        checksum = bytes.reduce(checksum) { sum, byte in
            Self.table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8)
        }
    }

    /// The tail, behind the compressed bytes.
    var tail: Data {
        [~checksum, count].reduce(into: Data()) { tail, number in
            withUnsafeBytes(of: number.littleEndian) { tail.append(contentsOf: $0) }
        }
    }

    /// CRC-32 of every byte (RFC 1952 §8).
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }
}
