import Foundation

/// Names and values of a query or a form, in order.
///
/// ```swift
/// var query: HttpQuery { ["page": page, "tags": ["sea", "shell"], "draft": false, "author": author] }  // nil: left out
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
        self.pairs = elements.map { (name: $0.0, value: $0.1) }
        self.style = Style()
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
    public var encoded: String {
        pairs.isEmpty ? "" : pairs.flatMap(encodedItems).joined(separator: "&")
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
        pairs.map { "\($0.name.percentEncoded)=…" }.joined(separator: "&")
    }
}

/// A value that can be used in a query or a form: strings, numbers, booleans, UUIDs, arrays and optionals of them.
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
