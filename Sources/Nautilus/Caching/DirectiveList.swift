/// The directives of one `Cache-Control` field, one after the other (RFC 9111 §5.2): a token, and for some `=` with
/// another token or a quoted text.
///
/// What is malformed is skipped up to the next comma, and every byte is looked at once.
struct DirectiveList {
    private let bytes: [UInt8]
    private var position = 0

    init(_ field: String) {
        bytes = Array(field.utf8)
    }

    /// The next directive, its name in small letters; nil at the end.
    mutating func next() -> (name: String, value: String?)? {
        while position < bytes.count {
            skip { $0 == UInt8(ascii: ",") || $0.isSpace }
            let name = read { $0.isTokenCharacter }
            skip { $0.isSpace }
            let value = current == UInt8(ascii: "=") ? readValue() : nil
            // Up to the comma stands what belongs to nothing.
            let rest = read { $0 != UInt8(ascii: ",") }
            guard !name.isEmpty else { continue }
            // `max-age=1 0` is no number, and must not be read as one.
            return (name.lowercased(), rest.utf8.allSatisfy(\.isSpace) ? value : value.map { $0 + rest } ?? rest)
        }
        return nil
    }

    private mutating func readValue() -> String {
        position += 1
        skip { $0.isSpace }
        guard current == UInt8(ascii: "\"") else { return read { $0.isTokenCharacter } }
        position += 1
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            // A quoted pair stands for what follows (RFC 9110 §5.6.4).
            if byte == UInt8(ascii: "\\"), let escaped = current {
                position += 1
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

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
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 }
}
