import Foundation

/// A form with files in it: `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var body: HttpBody {
///     .multipart([.text("Holiday", named: "title"), .file(photo, named: "photo")])
/// }
/// ```
/// Files are read from the disk while they are sent, and never held in memory as a whole. A form can be sent again as
/// long as each of its parts can.
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
        /// The file's name, if the field is a file; otherwise nil.
        public let fileName: String?
        /// The media type of the content; nil for text, which has none.
        public let contentType: HttpMimeType?
        /// Further fields of the part's header; they override those that the form writes. Default: none.
        public var header: HttpHeader = [:]
        let content: Content
    }

    /// The parts, in the order in which they are sent.
    public var parts: [Part]

    /// Creates a form.
    ///
    /// - Parameter parts: The parts. Default: none; append them later.
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
    ///   - fileName: The file's name for the server. Default: nil, since the content is not a file.
    ///   - contentType: The media type. Default: bytes of any kind.
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
    ///   - url: Where the file is. If it cannot be read, the attempt fails with ``HttpRequest/Invalid/file(_:)``, and
    ///     nothing is sent.
    ///   - name: The field's name.
    ///   - fileName: The file's name for the server. Default: nil, its own name.
    ///   - contentType: The media type. Default: nil, the type for the extension of the file's name.
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

    /// Chunks, sent as they are made. If they can be read only once, the form can be sent only once.
    ///
    /// - Parameters:
    ///   - stream: The chunks.
    ///   - name: The field's name.
    ///   - fileName: The file's name for the server. Default: nil, since the content is not a file.
    ///   - contentType: The media type. Default: bytes of any kind.
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

extension MultipartForm.Part: Redacted {
    /// The field's name, never its content.
    public var description: String { "the part “\(name)”" }
}

extension HttpBody {
    /// A form with files in it, as `multipart/form-data`.
    ///
    /// A form of at most 8 MiB whose parts are all in memory is sent as one piece; any other form is a stream of
    /// chunks, which `URLSessionTransport` writes to a temporary file before it sends them. If a part's header is not
    /// allowed, the attempt fails with ``HttpRequest/Invalid``, and nothing is sent.
    ///
    /// - Parameters:
    ///   - form: The parts.
    ///   - random: The source of the boundary. Default: the system's generator, since a predictable boundary could be
    ///     put into a part to end it early.
    public static func multipart(
        _ form: MultipartForm,
        random: any RandomSource = .system
    ) -> HttpBody {
        guard let boundary = MultipartBoundary(for: form, from: random) else {
            return HttpBody(contentType: nil) { _ in throw HttpRequest.Invalid.multipartBoundary }
        }
        let type = HttpMimeType("multipart", "form-data").with("boundary", boundary.text)
        return HttpBody(contentType: type.description) { _ in
            try MultipartEncoder(form: form, boundary: boundary).payload()
        }
    }
}

/// Puts a form together for the wire (RFC 7578 §4).
struct MultipartEncoder {
    /// The size up to which a form in memory is sent as one piece, with its length: 8 MiB, since each attempt makes a
    /// copy.
    static let pieceLimit: Int64 = 8_388_608

    let form: MultipartForm
    let boundary: MultipartBoundary

    /// The form as a body.
    ///
    /// - Throws: ``HttpBodyStream/FileError`` for a file that cannot be read; ``HttpRequest/Invalid`` for a part's
    ///   header.
    func payload() throws -> HttpBody.Payload {
        let sections = try sections()
        let length = sections.reduce(into: Int64?(0)) { sum, section in
            sum = sum.flatMap { sum in section.length.map { sum + $0 } }
        }
        let bytes = sections.map { if case .bytes(let bytes) = $0 { bytes } else { nil } as Data? }
        if let length, length <= Self.pieceLimit, !bytes.contains(nil) {
            return .data(bytes.compactMap { $0 }.reduce(into: Data(capacity: Int(length))) { $0 += $1 })
        }
        if sections.contains(where: \.isOneShot) {
            return .stream(HttpBodyStream(once: JoinedChunks(sections: sections), length: length))
        }
        return .stream(HttpBodyStream(length: length) { JoinedChunks(sections: sections) })
    }

    private func sections() throws -> [Section] {
        var sections: [Section] = []
        // The text between two contents is put together as one piece.
        var between = ""
        for part in form.parts {
            between += "--\(boundary.text)\r\n" + (try header(of: part)) + "\r\n"
            sections.append(.bytes(Data(between.utf8)))
            switch part.content {
            case .data(let data): sections.append(.bytes(data))
            case .file(let url): sections.append(.stream(try HttpBodyStream(file: url)))
            case .stream(let stream): sections.append(.stream(stream))
            }
            between = "\r\n"
        }
        sections.append(.bytes(Data((between + "--\(boundary.text)--\r\n").utf8)))
        return sections
    }

    private func header(of part: MultipartForm.Part) throws(HttpRequest.Invalid) -> String {
        var disposition = "form-data; name=\"\(part.name.withWireLineEnds.formEscaped)\""
        if let fileName = part.fileName { disposition += "; filename=\"\(fileName.formEscaped)\"" }
        var header: HttpHeader = ["Content-Disposition": disposition]
        header[.contentType] = part.contentType?.description
        header.merge(part.header)
        try header.validate()
        return header.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }
}

extension MultipartEncoder {
    /// A section of the body.
    enum Section: Sendable {
        case bytes(Data)
        case stream(HttpBodyStream)

        var length: Int64? {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .stream(let stream): stream.length
            }
        }

        var isOneShot: Bool {
            if case .stream(let stream) = self { stream.isOneShot } else { false }
        }
    }
}

/// One section after the other.
private struct JoinedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let sections: [MultipartEncoder.Section]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sections: sections[...]) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var sections: ArraySlice<MultipartEncoder.Section>
        var chunks: HttpBodyStream.AsyncIterator?

        mutating func next() async throws -> Data? {
            while true {
                if let chunk = try await chunks?.next() { return chunk }
                chunks = nil
                switch sections.popFirst() {
                case .bytes(let bytes)?: if !bytes.isEmpty { return bytes }
                case .stream(let stream)?: chunks = try stream.chunks()
                case nil: return nil
                }
            }
        }
    }
}

extension String {
    /// The text for use in quotes, written as browsers write it, since servers expect that (WHATWG HTML,
    /// "multipart/form-data encoding algorithm"; RFC 7578 §4.2 leaves it open): line breaks and quotes are
    /// percent-encoded, a `%` stays as it is. A field's name has its line ends as CRLF before that; a file's name keeps
    /// its own.
    fileprivate var formEscaped: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

extension String {
    /// The text with each line end, be it CR, LF or both, as CRLF.
    fileprivate var withWireLineEnds: String {
        var (text, isAfterReturn) = ("", false)
        for scalar in unicodeScalars {
            switch scalar {
            case "\r": text += "\r\n"
            // The second half of CRLF.
            case "\n" where isAfterReturn: break
            case "\n": text += "\r\n"
            default: text.unicodeScalars.append(scalar)
            }
            isAfterReturn = scalar == "\r"
        }
        return text
    }
}

/// The boundary between the parts of a form, which must not occur in any part (RFC 2046 §5.1.1).
struct MultipartBoundary: Hashable {
    let text: String

    /// Draws boundaries until one occurs in none of the parts in memory. Files and streams are not searched: 24 random
    /// characters out of 62 are less likely to occur in one than two random keys are to be equal.
    ///
    /// - Returns: Nil if none was found, for instance from a source that always draws the same.
    init?(for form: MultipartForm, from random: any RandomSource) {
        let contents = form.parts.compactMap { part in
            if case .data(let data) = part.content { data } else { nil }
        }
        for _ in 0..<8 {
            let boundary = Self.prefix + String((0..<24).map { _ in Self.character(random) })
            if !contents.contains(where: { $0.range(of: Data(boundary.utf8)) != nil }) {
                text = boundary
                return
            }
        }
        return nil
    }

    private static let prefix = "nautilus-"
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    private static func character(_ random: any RandomSource) -> Character {
        let index = Int(random.clampedFraction() * Double(characters.count))
        return characters[min(index, characters.count - 1)]
    }
}
