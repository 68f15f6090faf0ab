import Foundation

extension HttpBody {
    /// This body, with a report of how much of it has been sent.
    ///
    /// - Parameter progress: Called after each part, on a thread of the transport that must not be blocked; never
    ///   concurrently within an attempt. A new attempt, or a redirect that takes the body along, counts anew. A
    ///   transport that reads the body chunk by chunk counts the bytes that it has taken; for files and bytes in
    ///   memory, `URLSession` counts the bytes that it has sent.
    public func reporting(_ progress: @escaping @Sendable (HttpProgress) -> Void) -> HttpBody {
        HttpBody(contentType: contentType, contentEncoding: contentEncoding) { encoder in
            switch try payload(encoder) {
            case .empty: .empty
            case .data(let data): .stream(HttpBodyStream(sending: data).reporting(progress))
            case .stream(let stream): .stream(stream.reporting(progress))
            }
        }
    }
}

extension HttpBody.Payload {
    /// This body, with a report after each part of a stream that has been sent; for bytes in memory, only the transport
    /// knows.
    package func reportingParts(_ report: @escaping @Sendable () -> Void) -> Self {
        guard case .stream(let stream) = self else { return self }
        // These are bytes in memory, which a transport may send as one piece.
        if case .bytes? = stream.whole, stream.onSent == nil { return self }
        return .stream(stream.reporting { _ in report() })
    }
}

extension HttpBodyStream {
    /// The same chunks, with reports of how many bytes have been taken.
    func reporting(_ progress: @escaping @Sendable (HttpProgress) -> Void) -> HttpBodyStream {
        let (total, inner) = (length, onSent)
        let report: @Sendable (Int64) -> Void = { progress(HttpProgress(completed: $0, total: total)) }
        guard !isOneShot else {
            return HttpBodyStream(once: ReportedChunks(stream: self, report: report), length: length)
        }
        let onSent: @Sendable (Int64) -> Void = { count in
            inner?(count)
            report(count)
        }
        return HttpBodyStream(length: length, whole: whole, onSent: onSent) {
            ReportedChunks(stream: self, report: report)
        }
    }
}

/// Chunks, each counted when the next one is asked for, since until then it is still being sent.
private struct ReportedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let stream: HttpBodyStream
    let report: @Sendable (Int64) -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: stream.makeAsyncIterator(), report: report)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HttpBodyStream.AsyncIterator
        let report: @Sendable (Int64) -> Void
        var taken: Int64 = 0
        var reported: Int64 = 0

        mutating func next() async throws -> Data? {
            if taken > reported {
                report(taken)
                reported = taken
            }
            guard let chunk = try await chunks.next() else { return nil }
            taken += Int64(chunk.count)
            return chunk
        }
    }
}

/// How much of a body has been sent or received.
public struct HttpProgress: Hashable, Sendable {
    /// How many bytes have been sent or received.
    public let completed: Int64
    /// The total number of bytes; nil if it is unknown.
    public let total: Int64?

    /// Creates a state of progress, in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil when the total is unknown. 1 for an empty body.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}

/// Bytes in memory, 64 KiB at a time, so that each part can be reported.
private struct ByteChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let bytes: Data

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Data

        mutating func next() async throws -> Data? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(FileChunks.size) }
            return Data(rest.prefix(FileChunks.size))
        }
    }
}

/// The bytes of a file, 64 KiB at a time, so that a file of any size needs no more memory.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = Data

    /// The size of a chunk: 64 KiB, as much as an upload passes on at once, and enough to read a disk efficiently.
    static let size = 65_536

    private let file: LocalFile
    private let name: String
    private let length: Int64

    /// - Parameter length: How many bytes were announced; further bytes of the file are not read.
    init(_ url: URL, length: Int64) throws(HttpBodyStream.FileError) {
        self.file = try LocalFile(reading: url)
        self.name = url.lastPathComponent
        self.length = length
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: FileChunks
        var offset: Int64 = 0

        mutating func next() async throws -> Data? {
            guard offset < chunks.length else { return nil }
            let wanted = Int(Swift.min(Int64(FileChunks.size), chunks.length - offset))
            let chunk = try chunks.file.read(at: offset, upTo: wanted)
            guard !chunk.isEmpty else { throw HttpBodyStream.FileError.changed(name: chunks.name) }
            offset += Int64(chunk.count)
            return chunk
        }
    }
}

extension HttpBodyStream {
    /// Creates a stream of bytes in memory, for a transport that takes one part after the other.
    fileprivate convenience init(sending bytes: Data) {
        self.init(length: Int64(bytes.count), whole: .bytes(bytes)) { ByteChunks(bytes: bytes) }
    }

    /// Creates a stream of a file's bytes, with the length that the file has now. Every reader of the stream reads the
    /// file anew.
    ///
    /// - Throws: ``HttpBodyStream/FileError`` if the file cannot be read. If the file becomes shorter later, the reader
    ///   gets an error.
    public convenience init(file url: URL) throws(HttpBodyStream.FileError) {
        let length = try LocalFile(reading: url).size()
        self.init(length: length, whole: .file(url)) { try FileChunks(url, length: length) }
    }
}
