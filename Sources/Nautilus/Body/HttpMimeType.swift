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
            // RFC 9110 §5.6.6 allows empty parameters, such as a semicolon at the end.
            if field.isAtEnd || field.current == UInt8(ascii: ";") { continue }
            let name = field.readToken()
            guard !name.isEmpty, field.skip("="), let value = Self.value(&field) else { return nil }
            parameters.append(Parameter(name, value))
        }
    }

    /// Reads a token or a quoted string; returns nil if there is none, or no closing quote.
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

extension HttpBody {
    /// A file, read from the disk while it is sent, and never held in memory as a whole. Each attempt reads it again.
    ///
    /// The platform's transport sends it with its `Content-Length`. If the file cannot be read, the attempt fails with
    /// ``InvalidRequest/file(_:)`` before anything is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - contentType: The media type. Default: nil, the type for the name's extension, or `application/octet-stream`
    ///     if the extension is unknown.
    public static func file(_ url: URL, contentType: HttpMimeType? = nil) -> HttpBody {
        let type = contentType ?? HttpMimeType(fileExtension: url.pathExtension) ?? .octetStream
        return HttpBody(contentType: type.description) { _ in .stream(try HttpBodyStream(file: url)) }
    }

    /// Bytes of a media type: an image, a film, a document.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: Their media type.
    public static func media(_ data: Data, _ type: HttpMimeType) -> HttpBody {
        .data(data, contentType: type.description)
    }
}
