import Foundation
import NautilusHTTP

/// Puts a server's frames together into messages, from bytes that come in pieces of any size.
///
/// Bytes are decoded only when a message is asked for, so that a slow reader accumulates bytes and not messages. Each
/// byte of a frame's header is checked as it arrives, and the length before any of the payload is kept.
struct WebSocketDecoder: Sendable {
    /// One message, or one control frame.
    enum Item: Hashable, Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClosure)
    }

    private struct Frame {
        let opcode: WebSocketOpcode
        let isLast: Bool
        /// How many bytes of the payload are still missing.
        var missing: Int
    }

    private let messageLimit: Int
    private var input: [UInt8] = []
    /// How much of the input has been read.
    private var offset = 0
    /// The frame whose payload is being read; nil before its header is complete.
    private var frame: Frame?
    /// The kind of the message whose fragments are being read; nil between messages.
    private var kind: WebSocketOpcode?
    private var message = Data()
    private var text = Utf8Check()
    private var control: [UInt8] = []

    /// Whether messages are skipped, since only the server's closing still counts.
    var isDropping = false {
        didSet { message = Data() }
    }

    /// - Parameter messageLimit: The most bytes of a message, all its fragments together.
    init(messageLimit: Int) {
        self.messageLimit = max(0, messageLimit)
    }

    /// Adds bytes, for ``next()`` to read.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        input.removeFirst(offset)
        offset = 0
        input.append(contentsOf: bytes)
    }

    /// Returns the next message or control frame; nil if more bytes are needed. Must not be called again after an
    /// error.
    mutating func next() throws(WebSocketViolation) -> Item? {
        while true {
            guard frame != nil else {
                guard try readHeader() else { return nil }
                continue
            }
            try readPayload()
            guard let frame, frame.missing == 0 else { return nil }
            self.frame = nil
            if let item = try end(frame) { return item }
        }
    }

    // MARK: Header (§5.2)

    /// - Returns: Whether the header is complete.
    private mutating func readHeader() throws(WebSocketViolation) -> Bool {
        let bytes = input[offset...]
        guard let first = bytes.first else { return false }
        let opcode = try opcode(first)
        guard bytes.count >= 2 else { return false }
        let second = bytes[offset + 1]
        // Clients mask their frames (§5.1), servers must not.
        guard second & 0x80 == 0 else { throw .protocolError }
        guard !opcode.isControl || second <= 125 else { throw .protocolError }
        let lengthCount = second == 127 ? 8 : second == 126 ? 2 : 0
        guard bytes.count >= 2 + lengthCount else { return false }
        let extended = bytes.dropFirst(2).prefix(lengthCount)
        let length = lengthCount == 0 ? UInt64(second) : extended.reduce(0) { $0 << 8 | UInt64($1) }
        // A length must be written in its shortest form, with the highest bit clear.
        guard lengthCount != 2 || length > 125 else { throw .protocolError }
        guard lengthCount != 8 || length > 65_535 && length <= UInt64(Int64.max) else { throw .protocolError }
        if !opcode.isControl, !isDropping {
            guard length <= UInt64(messageLimit - message.count) else { throw .messageTooBig }
            // Announcing a length costs the server nothing, so it must cost little here.
            if message.isEmpty { message.reserveCapacity(min(Int(length), 1_048_576)) }
        }
        offset += 2 + lengthCount
        frame = Frame(opcode: opcode, isLast: first & 0x80 != 0, missing: Int(length))
        if opcode == .text || opcode == .binary { kind = opcode }
        return true
    }

    private func opcode(_ first: UInt8) throws(WebSocketViolation) -> WebSocketOpcode {
        // The reserved bits belong to extensions, and none was agreed on.
        guard first & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .protocolError }
        switch opcode {
        // Control frames come in one piece (§5.5).
        case .close, .ping, .pong: guard first & 0x80 != 0 else { throw .protocolError }
        case .continuation: guard kind != nil else { throw .protocolError }
        // A message must not begin before the last one has ended (§5.4).
        case .text, .binary: guard kind == nil else { throw .protocolError }
        }
        return opcode
    }

    // MARK: Payload

    private mutating func readPayload() throws(WebSocketViolation) {
        guard let frame else { return }
        let count = min(frame.missing, input.count - offset)
        let part = offset..<offset + count
        offset += count
        self.frame?.missing -= count
        guard !frame.opcode.isControl else {
            control.append(contentsOf: input[part])
            return
        }
        guard !isDropping else { return }
        // Fails at the first wrong byte, since the rest may take long to arrive (§8.1).
        if kind == .text {
            let isText = input.withUnsafeBytes { text.accepts(UnsafeRawBufferPointer(rebasing: $0[part])) }
            guard isText else { throw .invalidPayload }
        }
        message.append(contentsOf: input[part])
    }

    private mutating func end(_ frame: Frame) throws(WebSocketViolation) -> Item? {
        guard !frame.opcode.isControl else {
            defer { control = [] }
            switch frame.opcode {
            case .ping: return .ping(control)
            case .pong: return .pong(control)
            default: return .close(try WebSocketClosure(payload: control))
            }
        }
        guard frame.isLast else { return nil }
        let isText = kind == .text
        kind = nil
        guard !isDropping else { return nil }
        defer { (message, text) = (Data(), Utf8Check()) }
        guard isText else { return .message(.data(message)) }
        guard text.isWhole else { throw .invalidPayload }
        return .message(.text(String(decoding: message, as: UTF8.self)))
    }
}

/// Checks whether bytes that come in pieces are UTF-8 (RFC 3629 §4), and fails at the first byte that rules it out.
struct Utf8Check: Sendable {
    /// How many bytes of the current character are missing.
    private var missing = 0
    /// The values that the next byte may have.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the last character is complete.
    var isWhole: Bool { missing == 0 }

    /// Checks the next bytes.
    ///
    /// - Returns: Whether all bytes so far are, or can still become, UTF-8.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            // Most text is ASCII, so eight bytes are checked at a time.
            if missing == 0, index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            let byte = bytes[index]
            index += 1
            if missing > 0 {
                guard next.contains(byte) else { return false }
                (missing, next) = (missing - 1, 0x80...0xBF)
            } else if byte >= 0x80 {
                guard begins(byte) else { return false }
            }
        }
        return true
    }

    /// Begins a character of several bytes. Its second byte rules out overlong forms, the surrogates, and anything
    /// above U+10FFFF.
    private mutating func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, next) = (2, 0xA0...0xBF)
        case 0xED: (missing, next) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, next) = (3, 0x90...0xBF)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, next) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
