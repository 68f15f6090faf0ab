/// Reads a `Link` field, by the algorithm of RFC 8288 appendix B.2.
///
/// A server may send anything, so nothing traps, and every byte is looked at a bounded number of times.
struct LinkParser {
    private var field: FieldReader

    init(_ text: String) {
        field = FieldReader(text)
    }

    /// All links up to the end. A malformed one is skipped up to the next comma outside of quotes.
    mutating func links() -> [HttpLink] {
        var links: [HttpLink] = []
        while !field.isAtEnd {
            field.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            if let target = readTarget() {
                links.append(HttpLink(target: target, parameters: readParameters()))
            }
            // The rest of this one, if there is any, is no part of a link.
            skipToComma()
        }
        return links
    }

    /// The text between angle brackets; nil when there are none here.
    private mutating func readTarget() -> String? {
        guard field.skip("<") else { return nil }
        let target = field.read { $0 != UInt8(ascii: ">") }
        return field.skip(">") ? target : nil
    }

    private mutating func readParameters() -> [String: String] {
        var parameters: [String: String] = [:]
        while true {
            field.skipBlanks()
            guard field.skip(";") else { return parameters }
            field.skipBlanks()
            let name = field.readToken().lowercased()
            field.skipBlanks()
            var value = ""
            if field.skip("=") {
                field.skipBlanks()
                value =
                    field.current == UInt8(ascii: "\"")
                    ? field.readQuoted().text : field.read { !$0.isBlank && !";,".utf8.contains($0) }
            }
            // An empty name is a semicolon too many; a repeated parameter does not count (§3.3).
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    private mutating func skipToComma() {
        while let byte = field.current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = field.readQuoted() } else { field.skip() }
        }
    }
}
