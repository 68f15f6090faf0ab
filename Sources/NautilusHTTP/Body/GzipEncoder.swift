#if canImport(Compression)
    import Compression
    import Foundation

    /// Compresses bytes piece by piece.
    final class GzipEncoder {
        private final class Output {
            var bytes = GzipFrame.head
        }

        private let output = Output()
        private let filter: OutputFilter
        private var frame = GzipFrame()

        init() throws {
            // `.zlib` in Apple's framework is plain DEFLATE, without a frame.
            filter = try OutputFilter(.compress, using: .zlib) { [output] in
                if let bytes = $0 { output.bytes += bytes }
            }
        }

        /// Compresses more bytes, and returns the compressed bytes that are ready, often none.
        func encode(_ bytes: Data) throws -> Data {
            frame.take(bytes)
            try filter.write(bytes)
            return take()
        }

        /// Ends the compression, and returns the remaining compressed bytes.
        func finish() throws -> Data {
            try filter.finalize()
            return take() + frame.tail
        }

        private func take() -> Data {
            defer { output.bytes = Data() }
            return output.bytes
        }
    }
#elseif os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// Compresses bytes piece by piece.
    final class GzipEncoder {
        private let stream: OpaquePointer

        /// - Throws: ``HttpBody/HttpBody.GzipUnavailable``.
        init() throws(HttpBody.GzipUnavailable) {
            guard let stream = nautilus_deflater_create() else { throw HttpBody.GzipUnavailable() }
            self.stream = stream
        }

        deinit {
            nautilus_deflater_destroy(stream)
        }

        /// Compresses more bytes, and returns the compressed bytes that are ready, often none.
        func encode(_ bytes: Data) throws(HttpBody.GzipUnavailable) -> Data {
            var output = Data()
            // zlib counts bytes in 32 bits.
            for start in stride(from: 0, to: bytes.count, by: 1 << 30) {
                try run(bytes.dropFirst(start).prefix(1 << 30), isLast: false, &output)
            }
            return output
        }

        /// Ends the compression, and returns the remaining compressed bytes.
        func finish() throws(HttpBody.GzipUnavailable) -> Data {
            var output = Data()
            try run(Data(), isLast: true, &output)
            return output
        }

        private func run(_ bytes: Data, isLast: Bool, _ output: inout Data) throws(HttpBody.GzipUnavailable) {
            var offset = 0
            while true {
                var (taken, made) = (bytes.count - offset, 65_536)
                var state = NAUTILUS_CODING_FAILED
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: made) { target in
                    guard let address = target.baseAddress else { return }
                    state = bytes.withUnsafeBytes { source in
                        let rest = source.baseAddress?.assumingMemoryBound(to: UInt8.self).advanced(by: offset)
                        return nautilus_deflater_run(stream, isLast ? 1 : 0, rest, &taken, address, &made)
                    }
                    output.append(contentsOf: target[..<made])
                }
                offset += taken
                guard state != NAUTILUS_CODING_FAILED else { throw HttpBody.GzipUnavailable() }
                // If the output was full, there may be more to fetch.
                guard state != NAUTILUS_CODING_ENDED, made == 65_536 || offset < bytes.count else { return }
            }
        }
    }

    extension HttpBody {
        /// The failure to compress a body, since zlib cannot be loaded or there is no memory for it.
        public struct GzipUnavailable: Error, Hashable, CustomStringConvertible {
            /// The causes, and the remedy.
            public var description: String {
                "A body could not be compressed, since zlib (libz.so.1) is missing or has no memory left: install it, or send the body as it is."
            }
        }
    }
#endif
