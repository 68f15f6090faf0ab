import Foundation
import Nautilus

extension HttpBodyStream {
    /// The body as values, one JSON text per line (`application/x-ndjson`), as they arrive. Blank lines are skipped.
    ///
    /// A line that does not decode, or that is too long, ends the sequence with an ``HttpError`` of kind `decoding`:
    /// with the request that the body answers, and ``HttpBodyStream/UnreadableLine`` underneath.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - decoder: Decodes a line. Default: nil, a new decoder from the coders of the service that the body comes
    ///     from.
    ///   - limit: The most bytes of a line. Default: 1 MiB, as for ``lines(limit:)``.
    public func values<Value: Decodable>(
        of type: Value.Type = Value.self,
        decoder: JSONDecoder? = nil,
        limit: Int = 1_048_576
    ) -> Values<Value> {
        Values(stream: self, decoder: decoder ?? coders.decoder(), limit: limit)
    }

    /// Values of a body.
    public struct Values<Value: Decodable>: AsyncSequence {
        /// The value that a line decodes to.
        public typealias Element = Value

        let stream: HttpBodyStream
        let decoder: JSONDecoder
        let limit: Int

        /// Reads the body, which can be done only once if it is one-shot.
        public func makeAsyncIterator() -> AsyncIterator {
            // JSON is UTF-8, whatever charset is declared (RFC 8259 §8.1).
            AsyncIterator(lines: ByteLines(stream, .utf8, limit: limit), stream: stream, decoder: decoder)
        }

        /// Iterates over the values.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var lines: ByteLines
            let stream: HttpBodyStream
            let decoder: JSONDecoder
            /// How many lines have been read.
            private var count = 0

            fileprivate init(lines: ByteLines, stream: HttpBodyStream, decoder: JSONDecoder) {
                (self.lines, self.stream, self.decoder) = (lines, stream, decoder)
            }

            /// The next value; nil after the last.
            ///
            /// - Throws: ``HttpError``; the chunks' own error for a body that comes from no call.
            public mutating func next() async throws -> Value? {
                while let line = try await nextLine() {
                    count += 1
                    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
                    do {
                        return try decoder.decode(Value.self, from: Data(line))
                    } catch {
                        lines.end()
                        throw failure(inLine: count, error)
                    }
                }
                return nil
            }

            private mutating func nextLine() async throws -> ArraySlice<UInt8>? {
                do {
                    return try await lines.next()
                } catch ReadError.tooLarge(let limit) {
                    throw failure(inLine: count + 1, ReadError.tooLarge(limit: limit))
                }
            }

            private func failure(inLine line: Int, _ error: any Error) -> any Error {
                let unreadable = UnreadableLine(line: line, underlying: error)
                let failure = stream.failure(of: unreadable)
                return failure as? HttpError ?? HttpError(.decoding, stage: .decode, underlying: unreadable)
            }
        }
    }
}

extension HttpBodyStream {
    /// The line of a body that is not the expected value, or that is too long.
    public struct UnreadableLine: Error, Sendable, CustomStringConvertible {
        /// The line's number, from 1; blank lines count.
        public let line: Int
        /// The decoder's error, with the path in the value; ``HttpBodyStream/ReadError/tooLarge(limit:)`` for a line
        /// that is too long.
        public let underlying: any Error

        /// The line's number, and the place in its value; nothing of the line itself.
        public var description: String {
            if case HttpBodyStream.ReadError.tooLarge(let limit) = underlying {
                return "line \(line): more than \(limit) bytes"
            }
            return "line \(line): \(HttpError.describe(underlying))"
        }
    }
}
