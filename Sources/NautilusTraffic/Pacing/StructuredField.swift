import Nautilus

/// The value of a structured field (RFC 9651), as far as this package looks into one.
enum StructuredField {
    /// A value without parameters.
    enum BareItem: Hashable, Sendable {
        /// At most fifteen digits.
        case integer(Int64)
        /// Text between quotes, its escapes resolved.
        case string(String)
        /// A word.
        case token(String)
        /// Bytes, as the base64 that they are written in: they are compared, and not looked into.
        case bytes(String)
        /// A decimal, a boolean, a date, a display string or an inner list, none of which is asked for here.
        case other

        /// The integer; nil when it is something else.
        var integer: Int64? {
            if case .integer(let integer) = self { integer } else { nil }
        }

        /// The text of a string, a token or bytes; nil when it is something else.
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

    /// Parameters by their keys, of which there are so few that a dictionary costs more.
    struct Parameters: Hashable, Sendable {
        private(set) var all: [Parameter] = []

        /// The value of a key; nil when there is none. Of a repeated key the last counts.
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

    /// The members of a list; nil when any of it is malformed, since a half-read field says something else.
    static func list(_ text: String) -> [Item]? {
        var parser = StructuredFieldParser(text)
        return parser.list()
    }

    /// The members of a dictionary; nil when any of it is malformed.
    static func dictionary(_ text: String) -> [String: Item]? {
        var parser = StructuredFieldParser(text)
        return parser.dictionary()
    }
}
