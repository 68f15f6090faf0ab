import Foundation
import Nautilus

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
            AsyncIterator(lines: ByteLines(stream, stream.charset, limit: limit))
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
    struct ByteLines {
        private let stream: HttpBodyStream
        private var chunks: HttpBodyStream.AsyncIterator?
        private var transcoder: TextTranscoder
        private var splitter: LineSplitter

        init(_ stream: HttpBodyStream, _ charset: TextCharset, limit: Int) {
            self.stream = stream
            chunks = stream.makeAsyncIterator()
            transcoder = TextTranscoder(charset)
            splitter = LineSplitter(endsAtCarriageReturn: false, limit: limit)
        }

        /// Ends the sequence.
        mutating func end() { chunks = nil }

        mutating func next() async throws -> ArraySlice<UInt8>? {
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
