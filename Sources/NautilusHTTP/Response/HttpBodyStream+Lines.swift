import Foundation

extension HttpBodyStream {
    /// The body as lines of text, as they arrive.
    ///
    /// A line ends with LF or CRLF, or at the end of the body. The text is decoded by the charset that its
    /// `Content-Type` declares, as ``HttpResponse/text()`` does, before it is split; what is malformed becomes U+FFFD.
    /// A charset that is not known ends the sequence with a failure of kind `decoding`, with
    /// ``HttpBodyStream/UnknownCharset`` underneath.
    ///
    /// - Parameter limit: The most bytes of a line, in UTF-8. Default: 1 MiB, so that a body without line ends does not
    ///   fill the memory; a longer line ends the sequence with ``ReadError/tooLarge(limit:)``.
    public func lines(limit: Int = 1_048_576) -> Lines { Lines(stream: self, limit: limit) }

    /// Lines of a body.
    public struct Lines: AsyncSequence {
        /// A line without its end.
        public typealias Element = String

        let stream: HttpBodyStream
        let limit: Int

        /// Reads the body, which can be done only once if it is one-shot.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(lines: ByteLines(stream, stream.origin.charset, limit: limit))
        }

        /// Iterates over the lines.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var lines: ByteLines

            /// The next line; nil after the last.
            public mutating func next() async throws -> String? {
                try await lines.next().map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// Lines of a body, as bytes in UTF-8.
    package struct ByteLines {
        private let stream: HttpBodyStream
        private var chunks: HttpBodyStream.AsyncIterator?
        private var transcoder: TextTranscoder
        private var splitter: LineSplitter

        package init(_ stream: HttpBodyStream, _ charset: TextCharset, limit: Int) {
            self.stream = stream
            chunks = stream.makeAsyncIterator()
            transcoder = TextTranscoder(charset)
            splitter = LineSplitter(endsAtCarriageReturn: false, limit: limit)
        }

        /// Ends the sequence.
        package mutating func end() { chunks = nil }

        package mutating func next() async throws -> ArraySlice<UInt8>? {
            guard chunks != nil else { return nil }
            do {
                while true {
                    try Task.checkCancellation()
                    if let line = try splitter.next() { return line }
                    guard let chunk = try await chunks?.next() else { break }
                    splitter.append(try transcoder.append(chunk))
                }
                end()
                splitter.append(try transcoder.finish())
                return try splitter.rest()
            } catch {
                end()
                throw error is HttpBodyStream.UnknownCharset ? stream.failure(of: error) : error
            }
        }
    }
}

/// Splits bytes into lines. The bytes may come in pieces of any size; the lines are the same however the pieces are
/// cut.
package struct LineSplitter: Sendable {
    /// Whether a CR alone ends a line, as in server-sent events; otherwise only LF and CRLF do.
    let endsAtCarriageReturn: Bool
    /// The most bytes of one line.
    let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins, and how far its end has been searched for.
    private var (start, searched) = (0, 0)
    /// Whether the last line ended with a CR whose LF may still follow.
    private var skipsLineFeed = false

    package init(endsAtCarriageReturn: Bool, limit: Int) {
        self.endsAtCarriageReturn = endsAtCarriageReturn
        self.limit = limit
    }

    /// Adds bytes.
    package mutating func append(_ chunk: Data) {
        // Even removing nothing moves all remaining bytes, so that a long line would take quadratic time.
        if start > 0 { buffer.removeSubrange(..<start) }
        (start, searched) = (0, searched - start)
        buffer.append(contentsOf: chunk)
    }

    /// The next whole line, without its end; nil when more bytes are needed.
    package mutating func next() throws(HttpBodyStream.ReadError) -> ArraySlice<UInt8>? {
        if skipsLineFeed, start < buffer.count {
            skipsLineFeed = false
            if buffer[start] == Self.lineFeed { (start, searched) = (start + 1, start + 1) }
        }
        while searched < buffer.count {
            let byte = buffer[searched]
            searched += 1
            guard byte == Self.lineFeed || endsAtCarriageReturn && byte == Self.carriageReturn else { continue }
            skipsLineFeed = byte == Self.carriageReturn
            defer { start = searched }
            return try checked(withoutReturn(buffer[start..<searched - 1]))
        }
        // The last byte may be the CR of a line's end.
        guard searched - start - 1 <= limit else { throw .tooLarge(limit: limit) }
        return nil
    }

    /// The bytes after the end of the last line; nil if there are none.
    mutating func rest() throws(HttpBodyStream.ReadError) -> ArraySlice<UInt8>? {
        let rest = buffer[start...]
        (start, searched) = (buffer.count, buffer.count)
        return rest.isEmpty ? nil : try checked(rest)
    }

    private func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        !endsAtCarriageReturn && line.last == Self.carriageReturn ? line.dropLast() : line
    }

    private func checked(_ line: ArraySlice<UInt8>) throws(HttpBodyStream.ReadError) -> ArraySlice<UInt8> {
        guard line.count <= limit else { throw .tooLarge(limit: limit) }
        return line
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}

extension HttpBodyStream {
    /// The error that a text is in a charset that is not read here.
    ///
    /// UTF-8, UTF-16 and windows-1252 are, which also stands for `iso-8859-1` and `us-ascii`, as in browsers. A request
    /// for another one takes the bytes, `Data`, and decodes them itself.
    public struct UnknownCharset: Error, Hashable, Sendable, CustomStringConvertible {
        /// The charset as the server has named it.
        public let charset: String

        init(_ charset: String) { self.charset = charset }

        /// A description that names the charset, without what is no part of any charset's name.
        public var description: String {
            let name = charset.unicodeScalars.prefix(40).filter { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
            return "the text is in the charset '\(String(String.UnicodeScalarView(name)))', which is not known"
        }
    }
}
