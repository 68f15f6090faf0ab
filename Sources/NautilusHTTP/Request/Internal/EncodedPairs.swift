import Foundation

/// The pairs of a query that come from the properties of an encodable value.
struct EncodedPairs: QueryConvertible {
    let value: any Encodable & Sendable

    /// The pairs, sorted by name, since an encoder keeps no order.
    func pairs(_ encoder: JSONEncoder) throws(HttpRequest.Invalid) -> [(name: String, value: any QueryConvertible)] {
        let properties: [String: QueryValue]
        do {
            let json = try encoder.encode(value)
            properties = try JSONDecoder().decode([String: QueryValue].self, from: json)
        } catch let error as QueryValue.Nested {
            throw .queryNotEncodable(reason: "the value of '\(error.name)' has values of its own")
        } catch is EncodingError {
            throw .queryNotEncodable(reason: "a value in it has no representation")
        } catch {
            throw .queryNotEncodable(reason: "it is no value with properties")
        }
        return properties.sorted { $0.key < $1.key }.map { name, value in
            // The style of arrays is by type.
            if case .array(let values) = value { return (name: name, value: values) }
            return (name: name, value: value)
        }
    }

    /// Nothing: the query writes the pairs.
    func queryItems(_ style: HttpQuery.Style) -> [String] { [] }
}

/// A value of JSON that a query can hold.
enum QueryValue: Decodable, Sendable {
    case nothing
    case boolean(Bool)
    case text(String)
    case array([QueryValue])

    /// An object, or an array within an array, which a query has no form for.
    struct Nested: Error {
        /// The property.
        let name: String
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .nothing
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let text = Self.number(in: container) {
            self = .text(text)
        } else {
            // One array is a list of values; another within it is nested.
            guard decoder.codingPath.count < 2, let values = try? container.decode([QueryValue].self) else {
                throw Nested(name: decoder.codingPath.first?.stringValue ?? "")
            }
            self = .array(values)
        }
    }

    /// The text of a number, exact as far as Swift's types are.
    private static func number(in container: any SingleValueDecodingContainer) -> String? {
        if let number = try? container.decode(Int64.self) { return "\(number)" }
        if let number = try? container.decode(UInt64.self) { return "\(number)" }
        if let number = try? container.decode(Decimal.self), !number.isNaN { return "\(number)" }
        return (try? container.decode(Double.self)).map { "\($0)" }
    }
}

extension QueryValue: QueryConvertible {
    func queryItems(_ style: HttpQuery.Style) -> [String] {
        switch self {
        case .nothing: []
        case .boolean(let value): value.queryItems(style)
        case .text(let text): [text]
        case .array(let values): values.flatMap { $0.queryItems(style) }
        }
    }
}
