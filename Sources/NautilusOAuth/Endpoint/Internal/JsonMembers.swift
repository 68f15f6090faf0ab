import Foundation

/// The members of a JSON object, each value as it is written: no digit of a number is lost, and nothing is decoded
/// recursively.
///
/// Only for a body that a decoder has accepted: the text is split and not checked.
struct JsonMembers: Sendable {
    /// The JSON text of each value, by the member's name. The first value of a repeated name counts, as in Foundation's
    /// decoder.
    let texts: [String: String]

    /// Splits a body; nil when it is not UTF-8.
    init?(_ body: Data) {
        let bytes = Array(body)
        // A body in UTF-16 or UTF-32, which the decoder reads as well, has zeros.
        guard !bytes.contains(0) else { return nil }
        var texts: [String: String] = [:]
        var (depth, isText, isEscaped, start) = (0, false, false, 0)
        var name: String?
        for (index, byte) in bytes.enumerated() {
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth == 1 { start = index + 1 }
            case UInt8(ascii: ":") where depth == 1:
                name = Self.name(bytes[start..<index])
                start = index + 1
            case UInt8(ascii: ",") where depth == 1, UInt8(ascii: "}") where depth == 1:
                if let name, texts[name] == nil { texts[name] = Self.text(bytes[start..<index]) }
                name = nil
                start = index + 1
                if byte == UInt8(ascii: "}") { depth -= 1 }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            default:
                break
            }
        }
        self.texts = texts
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A member's name without its quotes and escapes; nil when it cannot be read.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(text(bytes).dropFirst().dropLast()) }
        return try? JSONDecoder().decode(String.self, from: Data(bytes))
    }
}
