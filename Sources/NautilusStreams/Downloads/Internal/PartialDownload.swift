import Foundation
import Nautilus

/// The bytes of a file received so far in the attempts of one call, and the file's target.
final class PartialDownload: Sendable {
    private struct State {
        var file: LocalFile?
        var received: Int64 = 0
        /// The file's length in bytes; nil when the server does not say.
        var total: Int64?
        /// The offset at which the file has to end: its total or, when that is unknown, the end of the announced part.
        var end: Int64?
        /// The offset at which this attempt's bytes have to end: `end`, or the end of the announced part if that is
        /// earlier.
        var partEnd: Int64?
        /// The validator that the rest has to match; nil when the rest cannot be requested.
        var validator: RangeValidator?
        var mayBeginAnew = true
        /// Whether the file has its final name.
        var isWhole = false
    }

    private let target: URL
    private let folder: URL
    private let url: URL
    private let limit: Int64?
    private let progress: (@Sendable (HttpProgress) -> Void)?
    // Only the call's task uses it, one attempt after the other.
    private let state = Locked(State())

    /// - Parameter limit: The largest size of the file, in bytes; nil for any size.
    init(to target: URL, limit: Int64?, progress: (@Sendable (HttpProgress) -> Void)?) {
        self.target = target
        self.limit = limit
        self.progress = progress
        // The same folder as the target's, so that the file only needs to be renamed.
        folder = target.deletingLastPathComponent()
        url = folder.appendingPathComponent(AbandonedFiles.Purpose.partial.name())
    }

    /// The fields that ask for the rest, provided it is still the same file; none when there is nothing to continue.
    var rangeHeader: HttpHeader {
        state.withLock { state in
            guard state.received > 0, let validator = state.validator else { return [:] }
            return [.range: "bytes=\(state.received)-", "If-Range": validator.text]
        }
    }

    /// Writes the body of a response to the file, and gives the file its name once it is whole. A 304 has no body, and
    /// leaves the target alone.
    ///
    /// - Parameter isRest: Whether the rest was asked for.
    /// - Throws: `HttpError`, for the retrier to decide on; of kind `custom` for a failure of the disk.
    func receive(_ response: HttpResponse<HttpBodyStream>, isRest: Bool) async throws {
        // The server's file is the one already there (RFC 9110 §15.4.5).
        guard response.status != 304 else { return }
        do {
            let file = try begin(response, isRest: isRest)
            // If the server announces a body that is too large, none of it is read.
            if let total = state.withLock({ $0.total }) { try checkLimit(total) }
            for try await chunk in response.body { try write(chunk, to: file) }
            try checkLength()
            try LocalFile.move(url, to: target)
            state.withLock { $0.isWhole = true }
        } catch let error as HttpBodyStream.FileError {
            throw HttpError(.custom, stage: .decode, underlying: error)
        }
    }

    /// Whether the file has its final name.
    var isWhole: Bool { state.withLock { $0.isWhole } }

    /// Removes the received bytes, unless the file has its final name.
    func discard() {
        state.withLock { $0.file = nil }
        try? FileManager.default.removeItem(at: url)
    }

    /// Whether the download begins anew after `error`: once per call, after an answer that does not continue it.
    func beginsAnew(after error: HttpError) -> Bool {
        guard case .notContinued? = error.underlying as? DownloadError else { return false }
        return state.withLock { state in
            defer { state.mayBeginAnew = false }
            return state.mayBeginAnew
        }
    }

    /// The file to write the body to: positioned at its end if the body continues it, otherwise emptied.
    private func begin(_ response: HttpResponse<HttpBodyStream>, isRest: Bool) throws -> LocalFile {
        if isRest, response.status == 206 || response.status == 416 {
            guard let file = continued(by: response) else {
                forget()
                throw failure(.notContinued(status: response.status), response, kind: .status(response.status))
            }
            return file
        }
        guard response.status != 206 else { throw failure(.unexpectedPart, response, kind: .decoding) }
        return try beginAnew(response)
    }

    private func continued(by response: HttpResponse<HttpBodyStream>) -> LocalFile? {
        guard response.status == 206, !response.header.isContentEncoded,
            let range = response.header[.contentRange].flatMap({ ContentRange($0) })
        else { return nil }
        return state.withLock { state in
            guard range.first == state.received, state.validator?.matches(response.header) == true else { return nil }
            if let total = state.total, let other = range.total, total != other { return nil }
            // A server may send less than all of the rest (RFC 9110 §15.3.7): without a total, nobody knows its end.
            guard let total = state.total ?? range.total else { return nil }
            (state.total, state.end, state.partEnd) = (total, total, min(total, range.last + 1))
            return state.file
        }
    }

    private func beginAnew(_ response: HttpResponse<HttpBodyStream>) throws -> LocalFile {
        forget()
        AbandonedFiles.collect(.partial, in: folder)
        let file = try state.withLock { $0.file } ?? LocalFile(creating: url)
        try file.empty()
        let header = response.header
        state.withLock { state in
            state.file = file
            // The length of an encoded body is not that of the bytes written.
            guard !header.isContentEncoded else { return }
            state.total = response.body.length ?? header.announcedLength
            (state.end, state.partEnd) = (state.total, state.total)
            if header["Accept-Ranges"]?.lowercased() != "none" { state.validator = RangeValidator(header) }
        }
        return file
    }

    private func forget() {
        state.withLock { ($0.received, $0.total, $0.end, $0.partEnd, $0.validator) = (0, nil, nil, nil, nil) }
    }

    private func write(_ chunk: Data, to file: LocalFile) throws {
        let (offset, total, end) = state.withLock { ($0.received, $0.total, $0.partEnd) }
        // Bytes beyond the announced part have no place in the file.
        if let end, offset + Int64(chunk.count) > end {
            forget()
            throw failure(.tooLong(expected: end), nil, kind: .transport(.badServerResponse))
        }
        let received = offset + Int64(chunk.count)
        try checkLimit(received)
        try file.write(chunk, at: offset)
        state.withLock { $0.received = received }
        progress?(HttpProgress(completed: received, total: total))
    }

    private func checkLimit(_ size: Int64) throws {
        guard let limit, size > limit else { return }
        throw failure(.tooLarge(limit: limit), nil, kind: .responseTooLarge(limit: Int(clamping: limit)))
    }

    private func checkLength() throws {
        let (received, end) = state.withLock { ($0.received, $0.end) }
        guard let end, received != end else { return }
        let error = DownloadError.incomplete(received: received, expected: end)
        throw failure(error, nil, kind: .transport(.networkConnectionLost))
    }

    private func failure(
        _ error: DownloadError,
        _ response: HttpResponse<HttpBodyStream>?,
        kind: FailureKind
    ) -> HttpError {
        HttpError(kind, stage: .decode, response: response?.replacingBody(Data()), underlying: error)
    }
}

extension HttpHeader {
    /// The body's length as the header announces it; nil when it is missing or invalid.
    fileprivate var announcedLength: Int64? {
        self[.contentLength].flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int64($0) : nil }
    }

    /// Whether the body was encoded on the way, and differs from the file on the server.
    fileprivate var isContentEncoded: Bool {
        self[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
    }
}

/// The part of a file that a 206 brings (RFC 9110 §14.4).
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// The size of the whole file in bytes; nil when the server does not know it.
    let total: Int64?

    /// Reads the only form that a 206 has, `bytes 5-9/10` or `bytes 5-9/*`; nil for anything else.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max
        else { return nil }
        let total = Self.number(parts[1])
        guard parts[1] == "*" || total.map({ $0 > last }) ?? false else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}

/// The proof that the rest of a file belongs to its beginning: the value of `If-Range` (RFC 9110 §13.1.5).
struct RangeValidator: Hashable, Sendable {
    /// The value of the field.
    let text: String
    /// Whether the value is an entity tag rather than a date.
    let isTag: Bool

    /// Creates the validator of a response; nil when the response has no strong one, so that its bytes cannot be
    /// continued.
    ///
    /// An entity tag is strong unless it is marked as weak. A date is strong only if it is at least 60 s older than the
    /// response: the file could have changed again within the same second, and clocks differ (RFC 9110 §8.8.2.2).
    init?(_ header: HttpHeader) {
        if let tag = header[.etag] {
            guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
            (text, isTag) = (tag, true)
        } else {
            // The year matters only for two-digit years, which no server has written since 1994.
            guard let modified = header["Last-Modified"], let sent = header[.date],
                let modification = HttpDate(modified[...], year: 2000), let response = HttpDate(sent[...], year: 2000),
                response.secondsSince1970 - modification.secondsSince1970 >= 60
            else { return nil }
            (text, isTag) = (modified, false)
        }
    }

    /// Whether a 206 may bring the rest: it must not name a different tag or date (RFC 9110 §15.3.7.3).
    func matches(_ header: HttpHeader) -> Bool {
        let named = isTag ? header[.etag] : header["Last-Modified"]
        return named == nil || named == text
    }
}
