/// The media type of bytes, with its parameters (RFC 9110 §8.3.1).
///
/// ```swift
/// let type = HttpMimeType("text/html; charset=utf-8")
/// type?.essence         // "text/html"
/// type?["charset"]      // "utf-8"
/// ```
/// Type, subtype and the names of parameters are compared and printed in small letters; values stay as they are.
public struct HttpMimeType: Hashable, Sendable, LosslessStringConvertible {
    /// A name and its value, without the quotes.
    public struct Parameter: Hashable, Sendable {
        /// The name, in small letters.
        public let name: String
        /// The value.
        public let value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    /// `image` in `image/png`.
    public let type: String
    /// `png` in `image/png`.
    public let subtype: String
    /// The parameters behind the semicolons, in order.
    public var parameters: [Parameter]

    /// Creates a media type. Nothing is checked before a request with it is built.
    ///
    /// - Parameters:
    ///   - type: `image`, say.
    ///   - subtype: `png`, say.
    ///   - parameters: The parameters behind the semicolons. Default: none.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Reads the value of `Content-Type`; nil for anything that is no media type.
    public init?(_ text: String) {
        var field = FieldReader(text)
        field.skipBlanks()
        let type = field.readToken()
        guard !type.isEmpty, field.skip("/"), case let subtype = field.readToken(), !subtype.isEmpty else { return nil }
        self.init(type, subtype)
        while !field.isAtEnd {
            field.skipBlanks()
            guard field.skip(";") || field.isAtEnd else { return nil }
            field.skipBlanks()
            // RFC 9110 §5.6.6 allows empty parameters, a semicolon at the end, say.
            if field.isAtEnd || field.current == UInt8(ascii: ";") { continue }
            let name = field.readToken()
            guard !name.isEmpty, field.skip("="), let value = Self.value(&field) else { return nil }
            parameters.append(Parameter(name, value))
        }
    }

    /// A token or a quoted text; nil for none, and for one without an end.
    private static func value(_ field: inout FieldReader) -> String? {
        guard field.current == UInt8(ascii: "\"") else {
            let token = field.readToken()
            return token.isEmpty ? nil : token
        }
        let (text, isClosed) = field.readQuoted()
        return isClosed ? text : nil
    }

    /// Type and subtype, without parameters, for comparisons.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of a parameter, by its name in any case; nil when there is none.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// This type with one parameter more.
    public func with(_ name: String, _ value: String) -> HttpMimeType {
        var copy = self
        copy.parameters.append(Parameter(name, value))
        return copy
    }

    /// As it stands in `Content-Type`; values that are no tokens are quoted.
    public var description: String {
        parameters.reduce(into: essence) { text, parameter in
            let value = parameter.value
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenCharacter)
            text += "; \(parameter.name)=" + (isToken ? value : "\"\(value.escapedInQuotes)\"")
        }
    }
}

extension String {
    /// The text with its quotes and backslashes escaped (RFC 9110 §5.6.4). By scalars: a quote with an accent combined is
    /// another character, and still ends the quotes.
    fileprivate var escapedInQuotes: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "\"" || scalar == "\\" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
    }
}
