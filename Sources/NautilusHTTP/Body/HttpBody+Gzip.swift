import Foundation

#if canImport(Compression) || os(Linux)
    extension HttpBody {
        /// This body, compressed, with `Content-Encoding: gzip`. Use it for servers known to accept it, since a request
        /// cannot find out (RFC 9110 §8.4.1).
        ///
        /// Bytes in memory stay in one piece; a stream is compressed while it is sent. On Linux, zlib compresses, which
        /// comes with libcurl; if it cannot be loaded, the request cannot be encoded, and `HttpBody.GzipUnavailable` is the
        /// underlying error.
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
        /// Unavailable, since this platform has no compressor: compress the bytes with a library, and name the encoding
        /// in the request's header.
        @available(*, unavailable, message: "this platform has no compressor; compress the bytes with a library")
        public func gzipped() -> HttpBody { self }
    }
#endif

/// The frame around compressed bytes: head and tail of a gzip member (RFC 1952 §2.3).
struct GzipFrame: Sendable {
    /// The head: DEFLATE, no name, no time, no system.
    static let head = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    private var checksum = UInt32.max
    private var count: UInt32 = 0

    /// Adds bytes, before they are compressed, to the checksum and the length.
    mutating func take(_ bytes: Data) {
        count &+= UInt32(truncatingIfNeeded: bytes.count)
        checksum = bytes.reduce(checksum) { sum, byte in
            Self.table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8)
        }
    }

    /// The tail, which follows the compressed bytes.
    var tail: Data {
        [~checksum, count].reduce(into: Data()) { tail, number in
            withUnsafeBytes(of: number.littleEndian) { tail.append(contentsOf: $0) }
        }
    }

    /// CRC-32 of every byte (RFC 1952 §8).
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }
}
