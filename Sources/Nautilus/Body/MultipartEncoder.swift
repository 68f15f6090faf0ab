import Foundation

/// Puts a form together for the wire (RFC 7578 §4).
struct MultipartEncoder {
    /// Up to here a form in memory is sent as one piece, with its length: 8 MiB, since the copy is made for each attempt.
    static let pieceLimit: Int64 = 8_388_608

    let form: MultipartForm
    let boundary: MultipartBoundary

    /// The form as a body.
    ///
    /// - Throws: ``HttpFileError`` for a file that cannot be read; ``InvalidRequest`` for a part's header.
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
        // Everything between two contents is one piece.
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

    private func header(of part: MultipartForm.Part) throws(InvalidRequest) -> String {
        var disposition = "form-data; name=\"\(part.name.formEscaped)\""
        if let fileName = part.fileName { disposition += "; filename=\"\(fileName.formEscaped)\"" }
        var header: HttpHeader = ["Content-Disposition": disposition]
        header[.contentType] = part.contentType?.description
        header.merge(part.header)
        try header.validate()
        return header.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }
}

extension MultipartEncoder {
    /// A stretch of the body.
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
    /// The text in quotes as browsers write it, since that is what servers read (WHATWG HTML, "multipart/form-data
    /// encoding algorithm"; RFC 7578 §4.2 leaves it open): line breaks and quotes percent-encoded, a `%` as it is.
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
