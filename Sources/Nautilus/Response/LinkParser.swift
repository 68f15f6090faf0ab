/// Reads a `Link` field, by the algorithm of RFC 8288 appendix B.2.
///
/// A server may send anything, so nothing traps, and every byte is looked at a bounded number of times.
struct LinkParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// All links up to the end. What is malformed is skipped up to the next comma outside of quotes.
    mutating func links() -> [HttpLink] {
        var links: [HttpLink] = []
        while position < bytes.count {
            skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            if let target = readTarget() {
                links.append(HttpLink(target: target, parameters: readParameters()))
            }
            // What is left of this one, if anything, is no part of a link.
            skipToComma()
        }
        return links
    }

    /// What stands between angle brackets; nil when there is no such thing here.
    private mutating func readTarget() -> String? {
        guard skip("<") else { return nil }
        let start = position
        skip { $0 != UInt8(ascii: ">") }
        let target = String(decoding: bytes[start..<position], as: UTF8.self)
        return skip(">") ? target : nil
    }

    private mutating func readParameters() -> [String: String] {
        var parameters: [String: String] = [:]
        while true {
            skip { $0.isBlank }
            guard skip(";") else { return parameters }
            skip { $0.isBlank }
            let name = read { $0.isTokenCharacter }.lowercased()
            skip { $0.isBlank }
            var value = ""
            if skip("=") {
                skip { $0.isBlank }
                value = current == UInt8(ascii: "\"") ? readQuoted() : read { !$0.isBlank && !";,".utf8.contains($0) }
            }
            // An empty name is a semicolon too many; a repeated parameter does not count (§3.3).
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    /// A quoted string (RFC 9110 §5.6.4); one without an end goes to the end of the field.
    private mutating func readQuoted() -> String {
        var text: [UInt8] = []
        _ = skip("\"")
        while let byte = current {
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), let escaped = current {
                position += 1
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipToComma() {
        while let byte = current, byte != UInt8(ascii: ",") {
            switch byte {
            case UInt8(ascii: "\""): _ = readQuoted()
            default: position += 1
            }
        }
    }
}

// MARK: - Bytes

extension LinkParser {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ expected: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: expected) else { return false }
        position += 1
        return true
    }

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while let byte = current, isSkipped(byte) { position += 1 }
    }

    private mutating func read(while isRead: (UInt8) -> Bool) -> String {
        let start = position
        skip(while: isRead)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
