import Foundation

extension HttpBody {
    /// This body, with a report of how much of it has been sent.
    ///
    /// - Parameter progress: Told after each part, on a thread of the transport's that must not be held up, never twice
    ///   at the same time within an attempt. A new attempt, and a redirect that takes the body along, begins at 0
    ///   again. A transport that reads the body chunk by chunk counts the bytes that it has taken; `URLSession` counts,
    ///   of files and of bytes in memory, those that have left.
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
    /// This body, with a report of each part of a stream that has been sent; of bytes in memory only the transport
    /// knows.
    func reportingParts(_ report: @escaping @Sendable () -> Void) -> Self {
        guard case .stream(let stream) = self else { return self }
        // A transport may take it for what it is.
        if case .bytes? = stream.whole, stream.onSent == nil { return self }
        return .stream(stream.reporting { _ in report() })
    }
}

extension HttpBodyStream {
    /// The same chunks, which tell how many of them have been taken.
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

/// Chunks that are counted when the next one is asked for: until then the last one is still under way.
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

/// How far a body has come.
public struct HttpProgress: Hashable, Sendable {
    /// How many bytes have been sent or received.
    public let completed: Int64
    /// How many they are in all; nil when that is unknown.
    public let total: Int64?

    /// Creates a state of progress, in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil when the total is unknown. Nothing of nothing is all of it.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}

/// Bytes in memory, 64 KiB at a time, so that each part can be told of.
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

/// The bytes of a file, 64 KiB at a time, so that a file of any size needs no more memory than that.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = Data

    /// 64 KiB: as much as an upload passes on at once, and large enough for a disk.
    static let size = 65_536

    private let file: LocalFile
    private let name: String
    private let length: Int64

    /// - Parameter length: How many bytes were announced; further bytes of the file are not read.
    init(_ url: URL, length: Int64) throws(HttpFileError) {
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
            guard !chunk.isEmpty else { throw HttpFileError.changed(name: chunks.name) }
            offset += Int64(chunk.count)
            return chunk
        }
    }
}

extension HttpBodyStream {
    /// Bytes that are there already, for a transport that takes one part after the other.
    fileprivate convenience init(sending bytes: Data) {
        self.init(length: Int64(bytes.count), whole: .bytes(bytes)) { ByteChunks(bytes: bytes) }
    }

    /// A file's bytes, read anew by every reader of the stream, with the length that the file has now.
    ///
    /// - Throws: ``HttpFileError`` when it cannot be read. A file that becomes shorter later is the reader's error.
    public convenience init(file url: URL) throws(HttpFileError) {
        let length = try LocalFile(reading: url).size()
        self.init(length: length, whole: .file(url)) { try FileChunks(url, length: length) }
    }
}
