import Nautilus

/// The value of a structured field (RFC 9651), as far as this package reads it.
enum StructuredField {
    /// A value without parameters.
    enum BareItem: Hashable, Sendable {
        /// At most fifteen digits.
        case integer(Int64)
        /// Text between quotes, with its escapes resolved.
        case string(String)
        /// A word.
        case token(String)
        /// Bytes, in the base64 in which they are written; they are compared, but not decoded.
        case bytes(String)
        /// A decimal, a boolean, a date, a display string or an inner list; none of these is needed here.
        case other

        /// The integer; nil for any other kind.
        var integer: Int64? {
            if case .integer(let integer) = self { integer } else { nil }
        }

        /// The text of a string, a token or bytes; nil for any other kind.
        var text: String? {
            switch self {
            case .string(let text), .token(let text), .bytes(let text): text
            case .integer, .other: nil
            }
        }
    }

    /// A value and its parameters.
    struct Item: Hashable, Sendable {
        let value: BareItem
        var parameters = Parameters()
    }

    /// Parameters by key; there are so few that a dictionary would cost more.
    struct Parameters: Hashable, Sendable {
        private(set) var all: [Parameter] = []

        /// The value of a key; nil when there is none. If a key is repeated, its last value counts.
        subscript(key: String) -> BareItem? {
            get { all.last { $0.key == key }?.value }
            set {
                all.removeAll { $0.key == key }
                if let newValue { all.append(Parameter(key: key, value: newValue)) }
            }
        }
    }

    /// A key and its value.
    struct Parameter: Hashable, Sendable {
        let key: String
        let value: BareItem
    }

    /// The members of a list; nil when any part is malformed, since a half-read field says something else.
    static func list(_ text: String) -> [Item]? {
        var parser = StructuredFieldParser(text)
        return parser.list()
    }

    /// The members of a dictionary; nil when any part is malformed.
    static func dictionary(_ text: String) -> [String: Item]? {
        var parser = StructuredFieldParser(text)
        return parser.dictionary()
    }
}

/// Reads structured fields, by the algorithms of RFC 9651 §4.2.
///
/// A server may send anything, so nothing traps, and every byte is read a bounded number of times.
struct StructuredFieldParser {
    private typealias BareItem = StructuredField.BareItem
    private typealias Item = StructuredField.Item

    private var field: FieldReader

    init(_ text: String) {
        field = FieldReader(text)
    }

    /// A list (§4.2.1); nil when it is malformed.
    mutating func list() -> [StructuredField.Item]? {
        var members: [Item] = []
        let isWhole = readMembers { parser in
            guard let member = parser.readMember() else { return false }
            members.append(member)
            return true
        }
        return isWhole ? members : nil
    }

    /// A dictionary (§4.2.2), in which the last value of a repeated key counts; nil when it is malformed.
    mutating func dictionary() -> [String: StructuredField.Item]? {
        var members: [String: Item] = [:]
        let isWhole = readMembers { parser in
            guard let key = parser.readKey() else { return false }
            if parser.field.skip("=") {
                guard let member = parser.readMember() else { return false }
                members[key] = member
            } else {
                guard let parameters = parser.readParameters() else { return false }
                members[key] = Item(value: .other, parameters: parameters)
            }
            return true
        }
        return isWhole ? members : nil
    }

    /// Reads members between commas up to the end; false when any of it is malformed.
    private mutating func readMembers(_ read: (inout StructuredFieldParser) -> Bool) -> Bool {
        field.skip { $0 == 0x20 }
        guard !field.isAtEnd else { return true }
        while true {
            guard read(&self) else { return false }
            field.skipBlanks()
            if field.isAtEnd { return true }
            guard field.skip(",") else { return false }
            field.skipBlanks()
            // A comma must not end the list.
            if field.isAtEnd { return false }
        }
    }

    private mutating func readMember() -> Item? {
        guard let value = field.skip("(") ? readInnerList() : readBareItem(), let parameters = readParameters() else {
            return nil
        }
        return Item(value: value, parameters: parameters)
    }

    private mutating func readInnerList() -> BareItem? {
        while true {
            field.skip { $0 == 0x20 }
            if field.skip(")") { return .other }
            guard readBareItem() != nil, readParameters() != nil else { return nil }
            guard field.current == 0x20 || field.current == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func readParameters() -> StructuredField.Parameters? {
        var parameters = StructuredField.Parameters()
        while field.skip(";") {
            field.skip { $0 == 0x20 }
            // As many as every parser has to accept (§3.1.2), and few enough for a linear search.
            guard parameters.all.count < 256, let key = readKey() else { return nil }
            guard field.skip("=") else {
                parameters[key] = .other
                continue
            }
            guard let value = readBareItem() else { return nil }
            parameters[key] = value
        }
        return parameters
    }

    private mutating func readKey() -> String? {
        guard let first = field.current, first.isLowercase || first == UInt8(ascii: "*") else { return nil }
        return field.read { $0.isLowercase || $0.isDigit || "_-.*".utf8.contains($0) }
    }
}

// MARK: - Bare items

extension StructuredFieldParser {
    private mutating func readBareItem() -> BareItem? {
        switch field.current {
        case UInt8(ascii: "\""): return readString().map { .string($0) }
        case UInt8(ascii: ":"): return readBytes().map { .bytes($0) }
        case UInt8(ascii: "?"):
            field.skip()
            return field.skip("0") || field.skip("1") ? .other : nil
        case UInt8(ascii: "@"):
            field.skip()
            return readNumber()?.integer == nil ? nil : .other
        case UInt8(ascii: "%"):
            field.skip()
            return skipDisplayString() ? .other : nil
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit:
            return readNumber()
        case let byte? where byte == UInt8(ascii: "*") || byte.isLetter:
            return .token(field.read { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        default: return nil
        }
    }

    /// An integer of at most fifteen digits, or a decimal of at most twelve and three (§4.2.4).
    private mutating func readNumber() -> BareItem? {
        let isNegative = field.skip("-")
        let digits = field.read { $0.isDigit }
        guard !digits.isEmpty, digits.utf8.count <= 15 else { return nil }
        guard field.skip(".") else { return Int64(digits).map { .integer(isNegative ? -$0 : $0) } }
        let fraction = field.read { $0.isDigit }
        return digits.utf8.count <= 12 && (1...3).contains(fraction.utf8.count) ? .other : nil
    }

    private mutating func readString() -> String? {
        guard field.skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = field.current {
            field.skip()
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = field.current, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                field.skip()
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Skips a display string behind its percent sign (§4.2.10); false when it is malformed. Only a percent sign escapes
    /// in it: a backslash stands for itself.
    private mutating func skipDisplayString() -> Bool {
        guard field.skip("\"") else { return false }
        var text: [UInt8] = []
        while let byte = field.current {
            field.skip()
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self).utf8.elementsEqual(text)
            case UInt8(ascii: "%"):
                guard let high = readHexDigit(), let low = readHexDigit() else { return false }
                text.append(high << 4 | low)
            case 0x20...0x7E: text.append(byte)
            default: return false
            }
        }
        return false
    }

    /// A hexadecimal digit, whose letters have to be lowercase there.
    private mutating func readHexDigit() -> UInt8? {
        guard let byte = field.current else { return nil }
        field.skip()
        return (0x41...0x46).contains(byte) ? nil : byte.hexValue
    }

    private mutating func readBytes() -> String? {
        guard field.skip(":") else { return nil }
        let base64 = field.read { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
        return field.skip(":") ? base64 : nil
    }
}

extension UInt8 {
    fileprivate var isLowercase: Bool { (0x61...0x7A).contains(self) }
    fileprivate var isLetter: Bool { isLetterOrDigit && !isDigit }
}
