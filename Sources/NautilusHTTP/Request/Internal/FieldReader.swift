/// Reads the value of a header field from its beginning to its end, byte by byte.
///
/// A server may send anything, so nothing traps.
package struct FieldReader {
    private let bytes: [UInt8]
    package private(set) var position = 0
    /// How many bytes have been read, counting those that were read again: what a hostile field has cost.
    package private(set) var steps = 0

    /// - Parameter maxLength: How many bytes of the text are read. Default: all.
    package init(_ text: String, maxLength: Int = .max) {
        bytes = Array(text.utf8.prefix(maxLength))
    }

    package var isAtEnd: Bool { position == bytes.count }
    /// The byte that is read next; nil at the end.
    package var current: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Skips one byte; does nothing at the end.
    package mutating func skip() {
        guard !isAtEnd else { return }
        position += 1
        steps += 1
    }

    /// Skips `expected` if it is the current byte; returns false if it is not.
    package mutating func skip(_ expected: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: expected) else { return false }
        skip()
        return true
    }

    package mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while let byte = current, isSkipped(byte) { skip() }
    }

    /// Skips the blanks that RFC 9110 §5.6.3 allows nearly everywhere: spaces and tabs.
    package mutating func skipBlanks() {
        skip(while: \.isBlank)
    }

    package mutating func read(while isRead: (UInt8) -> Bool) -> String {
        let start = position
        skip(while: isRead)
        return text(from: start)
    }

    /// Reads a token (RFC 9110 §5.6.2); returns an empty string if there is none here.
    package mutating func readToken() -> String {
        read(while: \.isTokenCharacter)
    }

    /// Reads a quoted string (RFC 9110 §5.6.4), whose opening quote is the current byte, without its quotes and
    /// backslashes.
    ///
    /// - Returns: The text, and whether there was a closing quote; without one, the text extends to the end of the
    ///   field.
    package mutating func readQuoted() -> (text: String, isClosed: Bool) {
        skip()
        var text: [UInt8] = []
        while let byte = current {
            skip()
            if byte == UInt8(ascii: "\"") { return (String(decoding: text, as: UTF8.self), true) }
            if byte == UInt8(ascii: "\\"), let escaped = current {
                skip()
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return (String(decoding: text, as: UTF8.self), false)
    }

    /// The text that has been read since `start`.
    package func text(from start: Int) -> String {
        String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Goes back to an earlier position, to read the same bytes again.
    package mutating func goBack(to start: Int) {
        position = start
    }
}

extension UInt8 {
    /// A space or a tab.
    package var isBlank: Bool { self == 0x20 || self == 0x09 }
}
