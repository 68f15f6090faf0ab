/// Whether bytes that come in pieces are UTF-8 (RFC 3629 §4): it says no at the first byte that rules it out.
struct Utf8Check: Sendable {
    /// How many bytes the current character lacks.
    private var missing = 0
    /// The values that its next byte may have.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the last character is complete.
    var isWhole: Bool { missing == 0 }

    /// Takes the next bytes in.
    ///
    /// - Returns: Whether they can be, or can become, UTF-8.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            // Most text is ASCII: eight at a time.
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
