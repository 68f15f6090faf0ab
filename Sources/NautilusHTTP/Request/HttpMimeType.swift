import Foundation

/// The media type of bytes, with its parameters (RFC 9110 §8.3.1).
///
/// ```swift
/// let type = HttpMimeType("text/html; charset=utf-8")
/// type?.essence         // "text/html"
/// type?["charset"]      // "utf-8"
/// ```
/// Type, subtype and the names of parameters are compared and printed in lower case; values stay as they are.
public struct HttpMimeType: Hashable, Sendable, LosslessStringConvertible {
    /// A name and its value, without the quotes.
    public struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
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
    /// The parameters after the semicolons, in order.
    public var parameters: [Parameter]

    /// Creates a media type. It is checked only when a request with it is built.
    ///
    /// - Parameters:
    ///   - type: The type, such as `image`.
    ///   - subtype: The subtype, such as `png`.
    ///   - parameters: The parameters after the semicolons. Default: none.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Reads a media type as browsers do (WHATWG MIME Sniffing §4.4); nil for anything that is none.
    ///
    /// A malformed parameter is skipped, and of several with one name the first counts: what the bytes are is clear
    /// without them.
    public init?(_ text: String) {
        var field = FieldReader(text)
        field.skip(while: \.isMimeBlank)
        let type = field.readToken()
        guard !type.isEmpty, field.skip("/"), case let subtype = field.readToken(), !subtype.isEmpty else { return nil }
        field.skip(while: \.isMimeBlank)
        guard field.isAtEnd || field.current == UInt8(ascii: ";") else { return nil }
        self.init(type, subtype)
        while field.skip(";") {
            field.skip(while: \.isMimeBlank)
            let name = field.read { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            // Without a value: an empty parameter, such as a semicolon at the end, or a bare name.
            guard field.skip("=") else { continue }
            let value = Self.value(&field)
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter), self[name] == nil,
                let value, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { continue }
            parameters.append(Parameter(name, value))
        }
    }

    /// Reads the value of a parameter, up to the next semicolon; nil if it is empty. A quoted one without its closing
    /// quote extends to the end.
    private static func value(_ field: inout FieldReader) -> String? {
        if field.current == UInt8(ascii: "\"") {
            let (text, _) = field.readQuoted()
            field.skip { $0 != UInt8(ascii: ";") }
            return text
        }
        var bytes = field.read { $0 != UInt8(ascii: ";") }.utf8[...]
        while bytes.last?.isMimeBlank == true { bytes.removeLast() }
        return bytes.isEmpty ? nil : String(Substring(bytes))
    }

    /// Type and subtype, without parameters, for comparisons.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of a parameter, whose name may be in any case; nil if there is none.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// This type with one more parameter.
    public func with(_ name: String, _ value: String) -> HttpMimeType {
        var copy = self
        copy.parameters.append(Parameter(name, value))
        return copy
    }

    /// The type as written in `Content-Type`; values that are not tokens are quoted.
    public var description: String {
        parameters.reduce(into: essence) { text, parameter in
            let value = parameter.value
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenCharacter)
            text += "; \(parameter.name)=" + (isToken ? value : "\"\(value.escapedInQuotes)\"")
        }
    }
}

extension String {
    /// The text with its quotes and backslashes escaped (RFC 9110 §5.6.4). Works by scalars, since a quote with a
    /// combining accent is another character, but still ends the quoted string.
    fileprivate var escapedInQuotes: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "\"" || scalar == "\\" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
    }
}

extension UInt8 {
    /// HTTP whitespace, as browsers skip it around the parts of a media type.
    fileprivate var isMimeBlank: Bool { isBlank || self == 0x0A || self == 0x0D }
}

extension HttpHeader {
    /// The media type of the body, from `Content-Type`; nil when there is none, or no valid one.
    ///
    /// Of several values, on several lines or joined by commas, the last valid one counts. If it has no `charset`, and
    /// those directly before it are of the same type, it takes theirs (Fetch, "extract a MIME type").
    public var mediaType: HttpMimeType? {
        let text = values(of: .contentType).joined(separator: ", ")
        return text.splitOutsideQuotes.reduce(nil) { found, part in
            guard let type = HttpMimeType(part), type.essence != "*/*" else { return found }
            guard let charset = found?["charset"], found?.essence == type.essence, type["charset"] == nil else {
                return type
            }
            return type.with("charset", charset)
        }
    }

    /// The charset in which the body is read as text. JSON and event streams are UTF-8 whatever they declare
    /// (RFC 8259 §8.1, WHATWG HTML §9.2.4), and so is text that declares nothing.
    package var textCharset: TextCharset {
        // Most answers have no parameters.
        guard values(of: .contentType).contains(where: { $0.utf8.contains(UInt8(ascii: ";")) }),
            let type = mediaType, !type.isAlwaysUtf8, let label = type["charset"]
        else { return .utf8 }
        return TextCharset(label: label)
    }
}

extension HttpMimeType {
    fileprivate var isAlwaysUtf8: Bool {
        subtype.hasSuffix("+json") || Self.alwaysUtf8.contains(subtype)
    }

    private static let alwaysUtf8 = [
        "json", "x-ndjson", "ndjson", "x-jsonlines", "jsonlines", "jsonl", "json-seq", "event-stream",
    ]
}

extension String {
    /// The parts between commas, except for those in quoted strings (Fetch, "get, decode, and split").
    fileprivate var splitOutsideQuotes: [String] {
        var (isQuoted, isEscaped) = (false, false)
        return utf8.split { byte in
            defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }.map { String(Substring($0)) }
    }
}

extension HttpMimeType {
    /// `application/json`.
    public static let json = HttpMimeType("application", "json")
    /// `application/x-ndjson`: one JSON value per line.
    public static let jsonLines = HttpMimeType("application", "x-ndjson")
    /// `application/x-www-form-urlencoded`.
    public static let form = HttpMimeType("application", "x-www-form-urlencoded")
    /// `application/octet-stream`: bytes of any kind.
    public static let octetStream = HttpMimeType("application", "octet-stream")
    /// `application/pdf`.
    public static let pdf = HttpMimeType("application", "pdf")
    /// `application/xml`.
    public static let xml = HttpMimeType("application", "xml")
    /// `application/zip`.
    public static let zip = HttpMimeType("application", "zip")
    /// `application/gzip`.
    public static let gzip = HttpMimeType("application", "gzip")
    /// `text/plain` in UTF-8.
    public static let text = HttpMimeType("text", "plain").with("charset", "utf-8")
    /// `text/html`.
    public static let html = HttpMimeType("text", "html")
    /// `text/csv`.
    public static let csv = HttpMimeType("text", "csv")
    /// `text/event-stream`: server-sent events.
    public static let eventStream = HttpMimeType("text", "event-stream")
    /// `image/png`.
    public static let png = HttpMimeType("image", "png")
    /// `image/jpeg`.
    public static let jpeg = HttpMimeType("image", "jpeg")
    /// `image/gif`.
    public static let gif = HttpMimeType("image", "gif")
    /// `image/webp`.
    public static let webp = HttpMimeType("image", "webp")
    /// `image/heic`.
    public static let heic = HttpMimeType("image", "heic")
    /// `image/svg+xml`.
    public static let svg = HttpMimeType("image", "svg+xml")
    /// `image/tiff`.
    public static let tiff = HttpMimeType("image", "tiff")
    /// `audio/mpeg`: MP3.
    public static let mp3 = HttpMimeType("audio", "mpeg")
    /// `audio/mp4`: AAC in a file, as phones record it.
    public static let m4a = HttpMimeType("audio", "mp4")
    /// `audio/wav`.
    public static let wav = HttpMimeType("audio", "wav")
    /// `video/mp4`.
    public static let mp4 = HttpMimeType("video", "mp4")
    /// `video/quicktime`.
    public static let quickTime = HttpMimeType("video", "quicktime")

    /// Creates the type for a file name's extension, given without its dot and in any case; nil for an extension that
    /// is not listed here.
    ///
    /// Only `txt` is taken for UTF-8; the encoding of other kinds of text is unknown.
    public init?(fileExtension: String) {
        guard let type = Self.byExtension[fileExtension.lowercased()] else { return nil }
        self = type
    }

    private static let byExtension: [String: HttpMimeType] = [
        "json": .json, "ndjson": .jsonLines, "jsonl": .jsonLines, "pdf": .pdf, "xml": .xml, "zip": .zip, "gz": .gzip,
        "txt": .text, "html": .html, "htm": .html, "csv": .csv,
        "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif, "webp": .webp, "heic": .heic, "svg": .svg,
        "tif": .tiff, "tiff": .tiff,
        "mp3": .mp3, "m4a": .m4a, "wav": .wav, "mp4": .mp4, "m4v": .mp4, "mov": .quickTime,
    ]
}
