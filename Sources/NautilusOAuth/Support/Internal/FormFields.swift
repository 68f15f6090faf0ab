import Nautilus

/// Names and values of a query, as a browser sends them: `application/x-www-form-urlencoded` (RFC 6749 appendix B).
struct FormFields: Sendable {
    /// The names and values, in order.
    let fields: [(name: String, value: String)]

    /// Reads a query, without its `?`; nil when it has an invalid escape, or its bytes are not UTF-8.
    init?(_ query: Substring) {
        var fields: [(name: String, value: String)] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decoded(pair[..<end]), let value = Self.decoded(pair[end...].dropFirst()) else {
                return nil
            }
            fields.append((name, value))
        }
        self.fields = fields
    }

    /// Every value of `name`, in order.
    func values(of name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// The first value of each name.
    var firstValues: [String: String] {
        .init(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        let decoded = String(decoding: bytes, as: UTF8.self)
        // If the bytes were broken UTF-8, decoding has repaired them into something that was never sent.
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }
}
