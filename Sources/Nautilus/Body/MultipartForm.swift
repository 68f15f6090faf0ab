import Foundation

/// A form with files in it: `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var body: HttpBody {
///     .multipart([.text("Holiday", named: "title"), .file(photo, named: "photo")])
/// }
/// ```
/// Files are read from the disk while they are sent, and never whole in memory. It can be sent again as long as each of
/// its parts can.
public struct MultipartForm: Sendable, ExpressibleByArrayLiteral {
    /// One field of a form.
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case file(URL)
            case stream(HttpBodyStream)
        }

        /// The field's name.
        public let name: String
        /// The file's name, for a field that is one; nil for any other.
        public let fileName: String?
        /// The media type of the content; nil for text, which has none.
        public let contentType: HttpMimeType?
        /// Further fields of the part's header; they win over those that the form writes. Default: none.
        public var header: HttpHeader = [:]
        let content: Content
    }

    /// The parts, in the order in which they are sent.
    public var parts: [Part]

    /// Creates a form.
    ///
    /// - Parameter parts: The parts. Default: none, to append to.
    public init(_ parts: [Part] = []) {
        self.parts = parts
    }

    /// Creates a form from a literal.
    public init(arrayLiteral parts: Part...) {
        self.parts = parts
    }
}

extension MultipartForm.Part {
    /// A text, as UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text, sent as it is.
    ///   - name: The field's name.
    public static func text(_ text: String, named name: String) -> Self {
        Self(name: name, fileName: nil, contentType: nil, content: .data(Data(text.utf8)))
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The field's name.
    ///   - fileName: The name of the file for the server. Default: nil, it is no file.
    ///   - contentType: Their media type. Default: bytes of any kind.
    public static func data(
        _ data: Data,
        named name: String,
        fileName: String? = nil,
        contentType: HttpMimeType = .octetStream
    ) -> Self {
        Self(name: name, fileName: fileName, contentType: contentType, content: .data(data))
    }

    /// A file, read while it is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is. One that cannot be read fails the attempt as ``InvalidRequest/file(_:)``, unsent.
    ///   - name: The field's name.
    ///   - fileName: Its name for the server. Default: nil, its own name.
    ///   - contentType: Its media type. Default: nil, that of its name's extension.
    public static func file(
        _ url: URL,
        named name: String,
        fileName: String? = nil,
        contentType: HttpMimeType? = nil
    ) -> Self {
        Self(
            name: name,
            fileName: fileName ?? url.lastPathComponent,
            contentType: contentType ?? HttpMimeType(fileExtension: url.pathExtension) ?? .octetStream,
            content: .file(url)
        )
    }

    /// Chunks as they come. Where they come only once, so does the form.
    ///
    /// - Parameters:
    ///   - stream: The chunks.
    ///   - name: The field's name.
    ///   - fileName: The name of the file for the server. Default: nil, it is no file.
    ///   - contentType: Their media type. Default: bytes of any kind.
    public static func stream(
        _ stream: HttpBodyStream,
        named name: String,
        fileName: String? = nil,
        contentType: HttpMimeType = .octetStream
    ) -> Self {
        Self(name: name, fileName: fileName, contentType: contentType, content: .stream(stream))
    }

    /// This part with one more field in its header.
    public func with(_ name: HttpHeader.Name, _ value: String) -> Self {
        var copy = self
        copy.header.add(value, to: name)
        return copy
    }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// The field's name, never its content.
    public var description: String { "the part “\(name)”" }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["part": description]) }
}
