import Foundation

/// The fields of a query or a form, decoded (`application/x-www-form-urlencoded`).
package struct FormParameters: Sendable {
    private var values: [String: String] = [:]
    /// Whether a field came more than once, which OAuth allows nowhere (RFC 6749 §3.1 and §3.2).
    package private(set) var hasRepeats = false

    package init() {}

    /// Reads what was encoded; of a field that comes more than once, the first counts.
    package init(_ encoded: String) {
        for field in encoded.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decode(parts[0])
            guard values[name] == nil else {
                hasRepeats = true
                continue
            }
            values[name] = parts.count == 2 ? Self.decode(parts[1]) : ""
        }
    }

    package subscript(_ name: String) -> String? { values[name] }

    /// Without the fields that have no value: to OAuth they count as omitted (RFC 6749 §3.1 and §3.2).
    package var withoutEmpty: FormParameters {
        var copy = self
        copy.values = values.filter { !$0.value.isEmpty }
        return copy
    }

    /// Encodes fields in their order.
    package static func encode(_ fields: KeyValuePairs<String, String>) -> String {
        fields.map { "\(encode($0.key))=\(encode($0.value))" }.joined(separator: "&")
    }

    /// Escapes whatever means something in a query, a form or in `Authorization: Basic`.
    package static func encode(_ text: String) -> String {
        // Only a text with broken surrogates has no encoding, and Swift has no such text.
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    static func decode(_ text: some StringProtocol) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension FormParameters: Redacted {}
