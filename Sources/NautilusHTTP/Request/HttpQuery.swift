import Foundation

/// Names and values of a query or a form, in order.
///
/// ```swift
/// var query: HttpQuery { ["page": page, "tags": ["sea", "shell"], "draft": false, "author": author] }  // nil: left
/// out
/// ```
public struct HttpQuery: Sendable, ExpressibleByDictionaryLiteral {
    /// How arrays and booleans are written, on which servers disagree.
    public struct Style: Hashable, Sendable {
        /// How several values of one name are written.
        public enum Arrays: Hashable, Sendable {
            /// `tags=a&tags=b`, as most servers read it.
            case repeated
            /// `tags[]=a&tags[]=b`, as PHP and Rails read it.
            case brackets
            /// `tags=a,b`.
            case commaSeparated
        }

        /// How true and false are written.
        public enum Booleans: Hashable, Sendable {
            /// `true` and `false`.
            case literal
            /// `1` and `0`.
            case numeric
        }

        /// How arrays are written.
        public var arrays: Arrays
        /// How booleans are written.
        public var booleans: Booleans

        /// Creates a style; the defaults are those of HTML forms and of JSON.
        public init(arrays: Arrays = .repeated, booleans: Booleans = .literal) {
            self.arrays = arrays
            self.booleans = booleans
        }
    }

    private var pairs: [(name: String, value: any QueryConvertible)]
    /// How arrays and booleans are written.
    public var style: Style

    /// Creates a query from a literal; repeated names are kept.
    public init(dictionaryLiteral elements: (String, any QueryConvertible)...) {
        self.init(elements)
    }

    /// Creates a query from pairs, in their order; repeated names are kept.
    public init(_ pairs: some Sequence<(String, any QueryConvertible)>) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
        self.style = Style()
    }

    /// Creates a query from pairs whose values have one type, in their order; repeated names are kept.
    public init<Value: QueryConvertible>(_ pairs: some Sequence<(String, Value)>) {
        self.init(pairs.map { ($0.0, $0.1 as any QueryConvertible) })
    }

    /// Creates a query from named pairs whose values have one type, such as `KeyValuePairs`, in their order.
    public init<Value: QueryConvertible>(_ pairs: some Sequence<(key: String, value: Value)>) {
        self.init(pairs.map { ($0.key, $0.value as any QueryConvertible) })
    }

    /// Creates a query from a dictionary, sorted by name, so that a repeated request is identical.
    public init(_ values: [String: any QueryConvertible]) {
        self.init(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// Creates a query from a dictionary whose values have one type, sorted by name, so that a repeated request is
    /// identical.
    public init<Value: QueryConvertible>(_ values: [String: Value]) {
        self.init(values.mapValues { $0 as any QueryConvertible })
    }

    /// Creates a query from the properties of a value, by their coding keys and sorted by name.
    ///
    /// The value is encoded when the request is built, by the service's ``HttpService/coders``, and in a form by the
    /// request's ``Request/encoder``. Texts, numbers, booleans, dates, and arrays of them can be written; nil is left
    /// out. A value with anything else, such as an object within an object, makes the call fail with
    /// ``HttpRequest/Invalid/queryNotEncodable(reason:)``.
    public init(encoding value: some Encodable & Sendable) {
        self.init([("", EncodedPairs(value: value) as any QueryConvertible)])
    }

    /// Whether there is no pair.
    public var isEmpty: Bool { pairs.isEmpty }

    /// Adds a pair and keeps those that are already there.
    public mutating func add(_ value: any QueryConvertible, to name: String) {
        pairs.append((name: name, value: value))
    }

    /// The same pairs, written in another style.
    public func styled(_ style: Style) -> HttpQuery {
        var copy = self
        copy.style = style
        return copy
    }

    /// The query as `name=value&…`, with everything but unreserved characters (RFC 3986 §2.3) percent-encoded.
    ///
    /// A value that cannot be written (see ``init(encoding:)``) is missing here, and refused when a request is built.
    public var encoded: String {
        if pairs.isEmpty { return "" }
        return pairs.flatMap { (try? encodedItems($0, JsonCoders.current.encoder)) ?? [] }.joined(separator: "&")
    }

    /// The query as ``encoded`` has it.
    ///
    /// - Parameter encoder: Makes the encoder of values that are encoded.
    package func checked(_ encoder: () -> JSONEncoder = { JsonCoders.current.encoder() }) throws(HttpRequest.Invalid)
        -> String
    {
        if pairs.isEmpty { return "" }
        var items: [String] = []
        for pair in pairs { items += try encodedItems(pair, encoder) }
        return items.joined(separator: "&")
    }

    private func encodedItems(
        _ pair: (name: String, value: any QueryConvertible),
        _ encoder: () -> JSONEncoder
    ) throws(HttpRequest.Invalid) -> [String] {
        guard let encoded = pair.value as? EncodedPairs else { return encodedItems(name: pair.name, value: pair.value) }
        return try encoded.pairs(encoder()).flatMap { encodedItems(name: $0.name, value: $0.value) }
    }

    private func encodedItems(name: String, value: any QueryConvertible) -> [String] {
        let items = value.queryItems(style).map(\.percentEncoded)
        let name = name.percentEncoded
        guard type(of: value).isQueryArray else { return items.map { "\(name)=\($0)" } }
        switch style.arrays {
        case .repeated: return items.map { "\(name)=\($0)" }
        case .brackets: return items.map { "\(name)%5B%5D=\($0)" }
        case .commaSeparated: return items.isEmpty ? [] : ["\(name)=\(items.joined(separator: ","))"]
        }
    }
}

extension HttpQuery: Redacted {
    /// The names without the values, which may be tokens or a form's password.
    public var description: String {
        pairs.map { $0.value is EncodedPairs ? "…" : "\($0.name.percentEncoded)=…" }.joined(separator: "&")
    }
}

/// A value that can be used in a query or a form: strings, numbers, booleans, UUIDs, dates, arrays and optionals of
/// them.
public protocol QueryConvertible: Sendable {
    /// Returns the value as strings, one per item: none for nil, several for an array.
    func queryItems(_ style: HttpQuery.Style) -> [String]
    /// Whether the type may have several items, so that its name is written as the style writes arrays.
    static var isQueryArray: Bool { get }
}

extension QueryConvertible {
    /// False, since most types have one item.
    public static var isQueryArray: Bool { false }
}

extension QueryConvertible where Self: CustomStringConvertible {
    /// The description, as one item.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { [description] }
}

extension QueryConvertible where Self: RawRepresentable, RawValue: QueryConvertible {
    /// The items of the raw value.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { rawValue.queryItems(style) }
}

extension QueryConvertible where Self: RawRepresentable & CustomStringConvertible, RawValue: QueryConvertible {
    /// The items of the raw value, since a description is meant for people.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { rawValue.queryItems(style) }
}

extension String: QueryConvertible {}
extension Substring: QueryConvertible {}
extension Int: QueryConvertible {}
extension Int8: QueryConvertible {}
extension Int16: QueryConvertible {}
extension Int32: QueryConvertible {}
extension Int64: QueryConvertible {}
extension UInt: QueryConvertible {}
extension UInt8: QueryConvertible {}
extension UInt16: QueryConvertible {}
extension UInt32: QueryConvertible {}
extension UInt64: QueryConvertible {}
extension Double: QueryConvertible {}
extension Float: QueryConvertible {}
extension Decimal: QueryConvertible {}
extension UUID: QueryConvertible {}

extension Bool: QueryConvertible {
    /// `true` and `false`, or `1` and `0`, depending on the style.
    public func queryItems(_ style: HttpQuery.Style) -> [String] {
        switch style.booleans {
        case .literal: [self ? "true" : "false"]
        case .numeric: [self ? "1" : "0"]
        }
    }
}

extension Date: QueryConvertible {
    /// The date as the service's ``HttpService/coders`` write it in JSON; by default in the format of RFC 3339, whole
    /// seconds: `2027-01-15T08:00:00Z`. If they cannot write it, as a year of five digits, Foundation's text for it.
    public func queryItems(_ style: HttpQuery.Style) -> [String] {
        let json = try? JsonCoders.current.encoder().encode([self])
        let items = json.flatMap { try? JSONDecoder().decode(QueryValue.self, from: $0) }?.queryItems(style)
        return items ?? [formatted(.iso8601)]
    }
}

extension Optional: QueryConvertible where Wrapped: QueryConvertible {
    /// The items of the value; none for nil, so that the name is left out.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { self?.queryItems(style) ?? [] }
    /// The wrapped type's.
    public static var isQueryArray: Bool { Wrapped.isQueryArray }
}

extension Array: QueryConvertible where Element: QueryConvertible {
    /// The items of all elements.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { flatMap { $0.queryItems(style) } }
    /// True.
    public static var isQueryArray: Bool { true }
}
