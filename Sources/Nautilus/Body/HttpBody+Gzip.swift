#if canImport(Compression)
    import Compression
    import Foundation

    extension HttpBody {
        /// This body, compressed, with `Content-Encoding: gzip`: for servers that are known to take it, since a request
        /// cannot ask (RFC 9110 §8.4.1).
        ///
        /// Bytes in memory stay in one piece; a stream is compressed while it is sent. On Apple's platforms only, which
        /// have a compressor.
        public func gzipped() -> HttpBody {
            HttpBody(contentType: contentType, contentEncoding: "gzip") { encoder in
                switch try payload(encoder) {
                case .empty: return .empty
                case .data(let data):
                    let gzip = try GzipEncoder()
                    return .data(try gzip.encode(data) + gzip.finish())
                case .stream(let stream) where stream.isOneShot:
                    return .stream(HttpBodyStream(once: GzippedChunks(stream: stream)))
                case .stream(let stream):
                    return .stream(HttpBodyStream { GzippedChunks(stream: stream) })
                }
            }
        }
    }

    /// Compresses what it is given, piece by piece.
    private final class GzipEncoder {
        private final class Output {
            var bytes = GzipFrame.head
        }

        private let output = Output()
        private let filter: OutputFilter
        private var frame = GzipFrame()

        init() throws {
            // What is called zlib here is DEFLATE alone.
            filter = try OutputFilter(.compress, using: .zlib) { [output] in
                if let bytes = $0 { output.bytes += bytes }
            }
        }

        /// What is ready of the compressed bytes; often nothing.
        func encode(_ bytes: Data) throws -> Data {
            frame.take(bytes)
            try filter.write(bytes)
            return take()
        }

        /// The rest of them.
        func finish() throws -> Data {
            try filter.finalize()
            return take() + frame.tail
        }

        private func take() -> Data {
            defer { output.bytes = Data() }
            return output.bytes
        }
    }

    private struct GzippedChunks: AsyncSequence, Sendable {
        typealias Element = Data

        let stream: HttpBodyStream

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: stream.makeAsyncIterator()) }

        struct AsyncIterator: AsyncIteratorProtocol {
            var chunks: HttpBodyStream.AsyncIterator
            var encoder: GzipEncoder?
            var isOver = false

            mutating func next() async throws -> Data? {
                guard !isOver else { return nil }
                let encoder = try encoder ?? GzipEncoder()
                self.encoder = encoder
                while let chunk = try await chunks.next() {
                    let bytes = try encoder.encode(chunk)
                    if !bytes.isEmpty { return bytes }
                }
                isOver = true
                return try encoder.finish()
            }
        }
    }
#else
    extension HttpBody {
        /// There is no compressor on this platform: compress the bytes with a library, and name the encoding in the
        /// request's header.
        @available(*, unavailable, message: "this platform has no compressor; compress the bytes with a library")
        public func gzipped() -> HttpBody { self }
    }
#endif
