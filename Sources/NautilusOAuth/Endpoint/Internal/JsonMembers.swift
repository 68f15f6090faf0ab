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
        var (names, values): ([ArraySlice<UInt8>], [ArraySlice<UInt8>]) = ([], [])
        var (depth, isText, isEscaped, start) = (0, false, false, 0)
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
                names.append(bytes[start..<index])
                start = index + 1
            case UInt8(ascii: ",") where depth == 1:
                values.append(bytes[start..<index])
                start = index + 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 1 { values.append(bytes[start..<index]) }
                depth -= 1
            default:
                break
            }
        }
        // All at once, since a decoder for each name would be slow.
        let list = Data("[".utf8) + names.joined(separator: ",".utf8) + "]".utf8
        guard let names = try? JSONDecoder().decode([String].self, from: list) else { return nil }
        let texts = values.map { value in
            String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        self.texts = Dictionary(zip(names, texts)) { first, _ in first }
    }
}
