/// Reads structured fields, by the algorithms of RFC 9651 §4.2.
///
/// A server may send anything, so nothing traps, and every byte is looked at a bounded number of times.
struct StructuredFieldParser {
    private typealias BareItem = StructuredField.BareItem
    private typealias Item = StructuredField.Item

    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
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

    /// A dictionary (§4.2.2), of whose repeated keys the last counts; nil when it is malformed.
    mutating func dictionary() -> [String: StructuredField.Item]? {
        var members: [String: Item] = [:]
        let isWhole = readMembers { parser in
            guard let key = parser.readKey() else { return false }
            if parser.skip("=") {
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

    /// Members between commas, up to the end; false when anything is malformed.
    private mutating func readMembers(_ read: (inout StructuredFieldParser) -> Bool) -> Bool {
        skip { $0 == 0x20 }
        guard position < bytes.count else { return true }
        while true {
            guard read(&self) else { return false }
            skip { $0.isBlank }
            if position == bytes.count { return true }
            guard skip(",") else { return false }
            skip { $0.isBlank }
            // A comma at the end.
            if position == bytes.count { return false }
        }
    }

    private mutating func readMember() -> Item? {
        guard let value = skip("(") ? readInnerList() : readBareItem(), let parameters = readParameters() else {
            return nil
        }
        return Item(value: value, parameters: parameters)
    }

    private mutating func readInnerList() -> BareItem? {
        while true {
            skip { $0 == 0x20 }
            if skip(")") { return .other }
            guard readBareItem() != nil, readParameters() != nil else { return nil }
            guard current == 0x20 || current == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func readParameters() -> StructuredField.Parameters? {
        var parameters = StructuredField.Parameters()
        while skip(";") {
            skip { $0 == 0x20 }
            // As many as every parser has to take (§3.1.2), and few enough to be searched one after the other.
            guard parameters.all.count < 256, let key = readKey() else { return nil }
            guard skip("=") else {
                parameters[key] = .other
                continue
            }
            guard let value = readBareItem() else { return nil }
            parameters[key] = value
        }
        return parameters
    }

    private mutating func readKey() -> String? {
        guard let first = current, first.isLowercase || first == UInt8(ascii: "*") else { return nil }
        return read { $0.isLowercase || $0.isDigit || "_-.*".utf8.contains($0) }
    }
}

// MARK: - Bare items

extension StructuredFieldParser {
    private mutating func readBareItem() -> BareItem? {
        switch current {
        case UInt8(ascii: "\""): return readString().map { .string($0) }
        case UInt8(ascii: ":"): return readBytes().map { .bytes($0) }
        case UInt8(ascii: "?"):
            position += 1
            return skip("0") || skip("1") ? .other : nil
        case UInt8(ascii: "@"):
            position += 1
            return readNumber()?.integer == nil ? nil : .other
        case UInt8(ascii: "%"):
            position += 1
            return readString() == nil ? nil : .other
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit:
            return readNumber()
        case let byte? where byte == UInt8(ascii: "*") || byte.isLetter:
            return .token(read { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        default: return nil
        }
    }

    /// An integer of at most fifteen digits, or a decimal of at most twelve and three (§4.2.4).
    private mutating func readNumber() -> BareItem? {
        let isNegative = skip("-")
        let digits = read { $0.isDigit }
        guard !digits.isEmpty, digits.utf8.count <= 15 else { return nil }
        guard skip(".") else { return Int64(digits).map { .integer(isNegative ? -$0 : $0) } }
        let fraction = read { $0.isDigit }
        return digits.utf8.count <= 12 && (1...3).contains(fraction.utf8.count) ? .other : nil
    }

    private mutating func readString() -> String? {
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = current, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                position += 1
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func readBytes() -> String? {
        guard skip(":") else { return nil }
        let base64 = read { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
        return skip(":") ? base64 : nil
    }
}

// MARK: - Bytes

extension StructuredFieldParser {
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
    fileprivate var isLowercase: Bool { (0x61...0x7A).contains(self) }
    fileprivate var isLetter: Bool { isLetterOrDigit && !isDigit }
}
