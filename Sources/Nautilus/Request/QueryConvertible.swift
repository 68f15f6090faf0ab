import Foundation

/// A value that can stand in a query or a form: strings, numbers, booleans, UUIDs, arrays and optionals of them.
public protocol QueryConvertible: Sendable {
    /// The value as text, one element per item: none for nil, several for an array.
    func queryItems(_ style: HttpQuery.Style) -> [String]
    /// Whether several items may follow, so that the name is written as the style writes arrays.
    static var isQueryArray: Bool { get }
}

extension QueryConvertible {
    /// Most values are single.
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
    /// The items of the raw value: a description is for people.
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
    /// `true` and `false`, or `1` and `0`, as the style has it.
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
    /// As the wrapped type has it.
    public static var isQueryArray: Bool { Wrapped.isQueryArray }
}

extension Array: QueryConvertible where Element: QueryConvertible {
    /// The items of all elements.
    public func queryItems(_ style: HttpQuery.Style) -> [String] { flatMap { $0.queryItems(style) } }
    /// An array is one.
    public static var isQueryArray: Bool { true }
}
