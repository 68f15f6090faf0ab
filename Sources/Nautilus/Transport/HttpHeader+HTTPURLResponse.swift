import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HttpHeader {
    /// The header of a response, by name: the order on the wire is lost in Foundation's dictionary.
    ///
    /// Foundation joins the values of one name by commas. Lists stay joined, which means the same (RFC 9110 §5.3);
    /// `Set-Cookie` is no list and is taken apart again.
    init(_ response: HTTPURLResponse) {
        let joined = response.allHeaderFields
        var fields: [Field] = []
        fields.reserveCapacity(joined.count)
        for (key, value) in joined {
            guard let key = key as? String, let value = value as? String else { continue }
            let name = Name(key)
            if name == .setCookie {
                fields += SetCookieValues.split(value).map { Field(name: name, value: $0) }
            } else {
                fields.append(Field(name: name, value: value))
            }
        }
        // Sorting is stable, which keeps the cookies in their order.
        fields.sort { $0.name.rawValue < $1.name.rawValue }
        self.init(fields)
    }
}

/// Takes apart the values that Foundation joined.
enum SetCookieValues {
    /// The values in `joined`: a comma separates two when a cookie's name and `=` follow it.
    ///
    /// The comma of a date (`Expires=Wed, 21 Oct 2026 07:28:00 GMT`) is followed by a blank within the next word, and
    /// a cookie's own value has no comma (RFC 6265 §4.1.1). A value that has one nevertheless, with a name and `=`
    /// right behind it, cannot be told from two cookies.
    static func split(_ joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        var values: [String] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
            guard beginsWithName(bytes[(index + 1)...]) else { continue }
            values.append(text(bytes[start..<index]))
            start = index + 1
        }
        values.append(text(bytes[start...]))
        return values
    }

    /// Whether a token and `=` come next, blanks before the token aside.
    private static func beginsWithName(_ bytes: ArraySlice<UInt8>) -> Bool {
        let word = bytes.drop { $0 == UInt8(ascii: " ") }
        guard let end = word.firstIndex(where: { !$0.isTokenCharacter }) else { return false }
        return end > word.startIndex && word[end] == UInt8(ascii: "=")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }
}
