import Foundation
import Nautilus

/// Splits bytes into lines. The bytes may come in pieces of any size; the lines are the same however the pieces are
/// cut.
struct LineSplitter: Sendable {
    /// Whether a CR alone ends a line, as in server-sent events; otherwise only LF and CRLF do.
    let endsAtCarriageReturn: Bool
    /// The most bytes of one line.
    let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins, and how far its end has been searched for.
    private var (start, searched) = (0, 0)
    /// Whether the last line ended with a CR whose LF may still follow.
    private var skipsLineFeed = false

    init(endsAtCarriageReturn: Bool, limit: Int) {
        self.endsAtCarriageReturn = endsAtCarriageReturn
        self.limit = limit
    }

    /// Adds bytes.
    mutating func append(_ chunk: Data) {
        // Even removing nothing moves all remaining bytes, so that a long line would take quadratic time.
        if start > 0 { buffer.removeSubrange(..<start) }
        (start, searched) = (0, searched - start)
        buffer.append(contentsOf: chunk)
    }

    /// The next whole line, without its end; nil when more bytes are needed.
    mutating func next() throws(HttpBodyStream.ReadError) -> ArraySlice<UInt8>? {
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
