import Foundation
import NautilusHTTP

/// The kinds of frames (RFC 6455 §5.2).
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether the frame may come between the fragments of a message (§5.4).
    var isControl: Bool { rawValue >= 0x8 }
}

/// A frame as a client sends it: a whole message, or a control frame, masked (RFC 6455 §5.3).
enum WebSocketFrame {
    /// The bytes of a frame.
    ///
    /// - Parameter key: The mask, big-endian. It must be unpredictable, so that nothing between client and server can
    ///   be made to take a message for a request (§10.3).
    static func encoded(_ opcode: WebSocketOpcode, _ payload: Data, key: UInt32) -> [UInt8] {
        let (isLast, isMasked) = (UInt8(0x80), UInt8(0x80))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 14)
        bytes.append(isLast | opcode.rawValue)
        switch payload.count {
        case ...125: bytes.append(isMasked | UInt8(payload.count))
        case ...65_535:
            bytes.append(isMasked | 126)
            bytes.append(bigEndian: UInt64(payload.count), count: 2)
        default:
            bytes.append(isMasked | 127)
            bytes.append(bigEndian: UInt64(payload.count), count: 8)
        }
        bytes.append(bigEndian: UInt64(key), count: 4)
        let start = bytes.count
        bytes.append(contentsOf: payload)
        bytes.withUnsafeMutableBytes { mask($0[start...], by: key) }
        return bytes
    }

    private static func mask(_ bytes: Slice<UnsafeMutableRawBufferPointer>, by key: UInt32) {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: bytes)
        // Eight bytes at a time, since a message may be large.
        let words = bytes.count / 8
        let pattern = (UInt64(key) << 32 | UInt64(key)).bigEndian
        for offset in stride(from: 0, to: words * 8, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: word ^ pattern, toByteOffset: offset, as: UInt64.self)
        }
        for offset in words * 8..<bytes.count {
            bytes[offset] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - offset % 4 * 8))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt64, count: Int) {
        for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}

extension WebSocketClosure {
    /// The payload of the close frame: empty for a code that must not be sent, and without the reason if that does not
    /// fit (RFC 6455 §5.5.1).
    var payload: Data {
        guard code.isSendable else { return Data() }
        let bytes = Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)])
        return reason.utf8.count <= 123 ? bytes + Data(reason.utf8) : bytes
    }

    /// Reads the payload of a close frame; without a code, the code is 1005.
    ///
    /// - Throws: An error for half a code, for a code that must not be sent, and for a reason that is not UTF-8.
    init(payload: [UInt8]) throws(WebSocketViolation) {
        guard !payload.isEmpty else {
            self.init(.noStatusReceived)
            return
        }
        guard payload.count >= 2 else { throw .protocolError }
        let code = WebSocketClosure.Code(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .protocolError }
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else { throw .invalidPayload }
        self.init(code, reason: reason)
    }
}

/// A violation of the protocol by a server, which makes the connection fail (RFC 6455 §7.1.7).
enum WebSocketViolation: Error, Hashable, Sendable, CaseIterable {
    /// A frame that violates the protocol.
    case protocolError
    /// Text that is not UTF-8.
    case invalidPayload
    /// A message that is too large.
    case messageTooBig

    /// The code that is sent to the server.
    var code: WebSocketClosure.Code {
        switch self {
        case .protocolError: .protocolError
        case .invalidPayload: .invalidPayload
        case .messageTooBig: .messageTooBig
        }
    }
}
