/// What bytes are: a media type with its parameters (RFC 9110 §8.3.1).
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
    /// What follows behind semicolons, in order.
    public var parameters: [Parameter]

    /// Creates a media type. Nothing is checked before a request with it is built.
    ///
    /// - Parameters:
    ///   - type: `image`, say.
    ///   - subtype: `png`, say.
    ///   - parameters: What follows behind semicolons. Default: nothing.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Reads what stands in `Content-Type`; nil for anything that is no media type.
    public init?(_ text: String) {
        var reader = MimeTypeReader(text)
        guard let type = reader.token(), reader.skip("/"), let subtype = reader.token() else { return nil }
        self.init(String(decoding: type, as: UTF8.self), String(decoding: subtype, as: UTF8.self))
        while !reader.isAtEnd {
            reader.skipBlanks()
            guard reader.skip(";") || reader.isAtEnd else { return nil }
            reader.skipBlanks()
            // RFC 9110 §5.6.6 allows empty parameters, a semicolon at the end, say.
            if reader.isAtEnd || reader.next == UInt8(ascii: ";") { continue }
            guard let name = reader.token(), reader.skip("="), let value = reader.value() else { return nil }
            let parameter = Parameter(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
            parameters.append(parameter)
        }
    }

    /// Type and subtype, without parameters: what to compare.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of a parameter, whose name's case does not matter; nil when there is none.
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
        parameters.reduce(essence) { text, parameter in
            let value = parameter.value
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenCharacter)
            let quoted = value.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return text + "; \(parameter.name)=" + (isToken ? value : "\"\(quoted)\"")
        }
    }
}

/// Takes a media type apart.
private struct MimeTypeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        var bytes = Array(text.utf8)
        while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
        self.bytes = bytes
        skipBlanks()
    }

    var isAtEnd: Bool { position == bytes.count }
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    mutating func skipBlanks() {
        while let next, Self.isBlank(next) { position += 1 }
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == character.value else { return false }
        position += 1
        return true
    }

    mutating func token() -> ArraySlice<UInt8>? {
        let token = bytes[position...].prefix(while: \.isTokenCharacter)
        position = token.endIndex
        return token.isEmpty ? nil : token
    }

    /// A token or a quoted text (RFC 9110 §5.6.4).
    mutating func value() -> [UInt8]? {
        guard skip("\"") else { return token().map { Array($0) } }
        var value: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return value }
            if byte == UInt8(ascii: "\\"), let escaped = next {
                position += 1
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        return nil
    }
}
