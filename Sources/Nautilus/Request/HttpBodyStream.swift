import Foundation

/// A body that comes in chunks, and remembers whether it can come again: of a request or of a response.
///
/// ```swift
/// for try await chunk in try await Export().schedule(with: service) { try file.write(contentsOf: chunk) }
/// ```
/// Chunks are made or taken when they are asked for; how far a transport runs ahead of its reader is its own matter.
public final class HttpBodyStream: AsyncSequence, Sendable {
    /// One chunk; never empty when a response brings it.
    public typealias Element = Data

    /// Why a stream cannot be read.
    public enum ReadError: Error, Hashable, Sendable {
        /// A one-shot stream was read before; declare the body with a factory to make it replayable.
        case alreadyRead
        /// The chunks, or a line or an event in them, added up to more than the reader takes, in bytes.
        case tooLarge(limit: Int)
    }

    /// A body that is there in one piece.
    enum Whole {
        case bytes(Data)
        case file(URL)
    }

    private enum Source {
        case once(@Sendable () -> AsyncIterator)
        case factory(@Sendable () throws -> AsyncIterator)
        case spent
    }

    private let source: Locked<Source>
    /// Whether the chunks come only once.
    public let isOneShot: Bool
    /// How many bytes they are together; nil when that is unknown before they have come.
    public let length: Int64?
    /// The source of the chunks, for a transport that sends such by itself; nil when they are made one by one.
    let whole: Whole?
    /// The coders of the service that it comes from; nil for the standard ones, and for a body of one's own.
    package let coders: JsonCoders.Carried?
    /// Called by such a transport with how many bytes it has sent; nil when that is not observed.
    let onSent: (@Sendable (Int64) -> Void)?

    /// A stream that comes once.
    ///
    /// - Parameters:
    ///   - chunks: The chunks. Their errors reach the reader.
    ///   - length: How many bytes they are together. Default: nil, unknown.
    public init<Chunks: AsyncSequence & Sendable>(once chunks: Chunks, length: Int64? = nil)
    where Chunks.Element == Data {
        self.source = Locked(.once { AsyncIterator(chunks) })
        self.isOneShot = true
        self.length = length
        (self.whole, self.onSent, self.coders) = (nil, nil, nil)
    }

    /// A stream that comes once, chunk by chunk as it is asked for.
    ///
    /// - Parameters:
    ///   - length: How many bytes the chunks are together. Default: nil, unknown.
    ///   - take: Takes the next chunk; nil after the last. Its errors reach the reader.
    public convenience init(length: Int64? = nil, _ take: @escaping @Sendable () async throws -> Data?) {
        self.init(length: length, coders: nil, take)
    }

    init(length: Int64?, coders: JsonCoders.Carried?, _ take: @escaping @Sendable () async throws -> Data?) {
        self.source = Locked(.once { AsyncIterator(take) })
        self.isOneShot = true
        self.length = length
        (self.whole, self.onSent, self.coders) = (nil, nil, coders)
    }

    /// A stream with bytes that are there already.
    public convenience init(_ bytes: Data) { self.init(bytes, coders: nil) }

    init(_ bytes: Data, coders: JsonCoders.Carried?) {
        self.source = Locked(.factory { AsyncIterator(once: bytes) })
        self.isOneShot = false
        self.length = Int64(bytes.count)
        (self.whole, self.onSent, self.coders) = (.bytes(bytes), nil, coders)
    }

    /// A stream that is made anew for every reader.
    ///
    /// - Parameters:
    ///   - length: How many bytes the chunks are together. Default: nil, unknown.
    ///   - make: Makes the chunks, from the beginning. Its errors reach the reader.
    public convenience init<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        from make: @escaping @Sendable () throws -> Chunks
    ) where Chunks.Element == Data {
        self.init(length: length, whole: nil, from: make)
    }

    init<Chunks: AsyncSequence & Sendable>(
        length: Int64?,
        whole: Whole?,
        onSent: (@Sendable (Int64) -> Void)? = nil,
        from make: @escaping @Sendable () throws -> Chunks
    ) where Chunks.Element == Data {
        self.source = Locked(.factory { AsyncIterator(try make()) })
        self.isOneShot = false
        self.length = length
        (self.whole, self.onSent, self.coders) = (whole, onSent, nil)
    }

    /// Whether the chunks can still be read: false only for a one-shot stream that has been.
    public var isReplayable: Bool {
        source.withLock { if case .spent = $0 { false } else { true } }
    }

    /// The chunks from the beginning. A transport calls this once per attempt.
    ///
    /// - Throws: ``ReadError/alreadyRead``; the errors of a factory.
    public func chunks() throws -> AsyncIterator {
        let source = source.withLock { source in
            let taken = source
            if case .once = source { source = .spent }
            return taken
        }
        switch source {
        case .once(let make): return make()
        case .factory(let make): return try make()
        case .spent: throw ReadError.alreadyRead
        }
    }

    /// The chunks from the beginning; an error of ``chunks()`` comes with the first.
    public func makeAsyncIterator() -> AsyncIterator {
        do {
            return try chunks()
        } catch {
            return AsyncIterator { throw error }
        }
    }

    /// The chunks as one value.
    ///
    /// - Parameter limit: The most bytes to take.
    /// - Throws: ``ReadError``; the errors of the chunks.
    public func collected(limit: Int) async throws -> Data {
        var data = Data()
        var chunks = try chunks()
        while let chunk = try await chunks.next() {
            guard data.count + chunk.count <= limit else { throw ReadError.tooLarge(limit: limit) }
            data.append(chunk)
        }
        return data
    }
}

extension HttpBodyStream {
    /// Takes one chunk after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let take: () async throws -> Data?

        init(_ take: @escaping () async throws -> Data?) {
            self.take = take
        }

        fileprivate init<Chunks: AsyncSequence>(_ chunks: Chunks) where Chunks.Element == Data {
            var iterator = chunks.makeAsyncIterator()
            self.take = { try await iterator.next() }
        }

        fileprivate init(once bytes: Data) {
            var bytes: Data? = bytes.isEmpty ? nil : bytes
            self.take = { bytes.take() }
        }

        /// The next chunk; nil after the last.
        public mutating func next() async throws -> Data? { try await take() }
    }
}

extension HttpBodyStream: Redacted {
    /// The kind, never the bytes.
    public var description: String { isOneShot ? "a one-shot stream" : "a replayable stream" }
}
