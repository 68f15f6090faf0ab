import Nautilus

/// The directives of one `Cache-Control` field, one after the other (RFC 9111 §5.2): a token, and for some `=` with
/// another token or a quoted text.
///
/// A malformed directive is skipped up to the next comma, and every byte is looked at once.
struct DirectiveList {
    private var field: FieldReader

    init(_ field: String) {
        self.field = FieldReader(field)
    }

    /// The next directive, its name in small letters; nil at the end.
    mutating func next() -> (name: String, value: String?)? {
        while !field.isAtEnd {
            field.skip { $0 == UInt8(ascii: ",") || $0.isBlank }
            let name = field.readToken()
            field.skipBlanks()
            let value = field.current == UInt8(ascii: "=") ? readValue() : nil
            // Up to the comma stands what belongs to nothing.
            let rest = field.read { $0 != UInt8(ascii: ",") }
            guard !name.isEmpty else { continue }
            // `max-age=1 0` is no number, and must not be read as one.
            return (name.lowercased(), rest.utf8.allSatisfy(\.isBlank) ? value : value.map { $0 + rest } ?? rest)
        }
        return nil
    }

    private mutating func readValue() -> String {
        field.skip()
        field.skipBlanks()
        return field.current == UInt8(ascii: "\"") ? field.readQuoted().text : field.readToken()
    }
}
