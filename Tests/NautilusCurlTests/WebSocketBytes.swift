import Foundation
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

/// Frames as a server writes them, by hand: the library under test has no part in it (RFC 6455 §5.2).
enum ServerFrame {
    /// One frame; its length in as few bytes as it can be.
    static func bytes(_ firstByte: UInt8, _ payload: [UInt8] = [], mask: [UInt8]? = nil) -> [UInt8] {
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        var bytes = [firstByte]
        switch payload.count {
        case ...125: bytes.append(maskBit | UInt8(payload.count))
        case ...65_535: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [maskBit | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    static func text(_ text: String, isLast: Bool = true) -> [UInt8] {
        bytes(isLast ? 0x81 : 0x01, Array(text.utf8))
    }

    static func data(_ payload: [UInt8], isLast: Bool = true) -> [UInt8] { bytes(isLast ? 0x82 : 0x02, payload) }

    static func more(_ payload: [UInt8], isLast: Bool) -> [UInt8] { bytes(isLast ? 0x80 : 0x00, payload) }

    static func ping(_ text: String) -> [UInt8] { bytes(0x89, Array(text.utf8)) }

    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }
}

/// A frame as a client has written it, read by hand.
struct ClientFrame: Hashable {
    let firstByte: UInt8
    let key: [UInt8]
    /// Without the mask.
    let payload: [UInt8]

    /// - Returns: Nil for bytes that are not exactly one masked frame.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 6, bytes[1] & 0x80 != 0 else { return nil }
        let short = Int(bytes[1] & 0x7F)
        let extra = short == 127 ? 8 : short == 126 ? 2 : 0
        guard bytes.count >= 6 + extra else { return nil }
        let count = extra == 0 ? short : bytes[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
        let key = Array(bytes[2 + extra..<6 + extra])
        guard bytes.count == 6 + extra + count else { return nil }
        self.firstByte = bytes[0]
        self.key = key
        self.payload = bytes[(6 + extra)...].enumerated().map { $1 ^ key[$0 % 4] }
    }
}

/// A decoder's reading of some bytes.
struct Decoded: Hashable {
    var items: [WebSocketDecoder.Item] = []
    var violation: WebSocketViolation?

    /// Feeds a new decoder, in pieces of these sizes; the last one again and again.
    init(_ bytes: [UInt8], by sizes: [Int] = [.max], limit: Int = 1000) {
        var decoder = WebSocketDecoder(messageLimit: limit)
        var (rest, sizes) = (bytes[...], sizes[...])
        while !rest.isEmpty {
            let part = Array(rest.prefix(sizes.count > 1 ? sizes.removeFirst() : sizes.first ?? .max))
            rest = rest.dropFirst(part.count)
            part.withUnsafeBytes { decoder.feed($0) }
            do throws(WebSocketViolation) {
                while let item = try decoder.next() { items.append(item) }
            } catch {
                violation = error
                return
            }
        }
    }
}
