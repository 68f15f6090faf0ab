import Foundation

/// A request as it came over the wire.
public struct RecordedRequest: Sendable {
    /// The request line, `POST /echo?a=1 HTTP/1.1`.
    public let requestLine: String
    /// The header's lines, exactly as they came.
    public let headerLines: [String]
    /// The body, decoded when it came in chunks.
    public let body: Data

    /// The method.
    public var method: String { word(0) }
    /// The path with its query, as it came.
    public var target: String { word(1) }
    /// The path without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The values of a field, one per line, in order; the name's case does not matter.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Names and values, in order.
    public var fields: [(name: String, value: String)] {
        headerLines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
    }

    private func word(_ index: Int) -> String {
        let words = requestLine.split(separator: " ", omittingEmptySubsequences: false)
        return index < words.count ? String(words[index]) : ""
    }
}
