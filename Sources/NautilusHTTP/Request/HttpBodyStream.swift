import Foundation

/// A body of a request or a response that comes in chunks, and knows whether it can be read again.
///
/// ```swift
/// for try await chunk in try await Export().schedule(with: service) { try file.write(contentsOf: chunk) }
/// ```
/// Chunks are made or taken on demand; how far a transport reads ahead is up to the transport.
public final class HttpBodyStream: AsyncSequence, Sendable {
    /// One chunk; never empty if it comes from a response.
    public typealias Element = Data

    /// Why a stream cannot be read.
    public enum ReadError: Error, Hashable, Sendable {
        /// A one-shot stream was read before; declare the body with a factory to make it replayable.
        case alreadyRead
        /// The chunks, or a line or an event in them, had more bytes than the reader takes.
        case tooLarge(limit: Int)
    }

    /// The most bytes of a response that are read as a whole, unless a transport is configured otherwise: 64 MiB, far
    /// above any document that an API answers with, and still little enough for a phone to hold in memory.
    public static let wholeBodyLimit = 67_108_864

    /// A body that is available in one piece.
    package enum Whole {
        case bytes(Data)
        case file(URL)
    }

    private enum Source {
        case once(@Sendable () -> AsyncIterator)
        case factory(@Sendable () throws -> AsyncIterator)
        case spent
    }

    private let source: Locked<Source>
    /// Whether the chunks can be read only once.
    package let isOneShot: Bool
    /// The total number of bytes; nil if it is not known in advance.
    public let length: Int64?
    /// The bytes or the file behind the chunks, for a transport that can send it directly; nil if chunks are made one
    /// by one.
    package let whole: Whole?
    /// How its readers decode a response's body, and report what they cannot decode.
    let origin: BodyOrigin
    /// Called with the number of bytes sent so far by a transport that sends ``whole`` directly; nil if nobody observes
    /// it.
    package let onSent: (@Sendable (Int64) -> Void)?

    /// Creates a stream that can be read only once.
    ///
    /// - Parameters:
    ///   - chunks: The chunks. The reader gets their errors.
    ///   - length: The total number of bytes. Default: nil, unknown.
    public init<Chunks: AsyncSequence & Sendable>(once chunks: Chunks, length: Int64? = nil)
    where Chunks.Element == Data {
        self.source = Locked(.once { AsyncIterator(chunks) })
        self.isOneShot = true
        self.length = length
        (self.whole, self.onSent, self.origin) = (nil, nil, BodyOrigin())
    }

    /// Creates a stream that can be read only once, and that takes each chunk on demand.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes. Default: nil, unknown.
    ///   - take: Returns the next chunk; nil after the last. The reader gets its errors.
    public convenience init(length: Int64? = nil, _ take: @escaping @Sendable () async throws -> Data?) {
        self.init(length: length, origin: BodyOrigin(), take)
    }

    package init(length: Int64?, origin: BodyOrigin, _ take: @escaping @Sendable () async throws -> Data?) {
        self.source = Locked(.once { AsyncIterator(take) })
        self.isOneShot = true
        self.length = length
        (self.whole, self.onSent, self.origin) = (nil, nil, origin)
    }

    /// Creates a stream of bytes in memory.
    public convenience init(_ bytes: Data) { self.init(bytes, origin: BodyOrigin()) }

    package init(_ bytes: Data, origin: BodyOrigin) {
        self.source = Locked(.factory { AsyncIterator(once: bytes) })
        self.isOneShot = false
        self.length = Int64(bytes.count)
        (self.whole, self.onSent, self.origin) = (.bytes(bytes), nil, origin)
    }

    /// Creates a stream that is made anew for every reader.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes. Default: nil, unknown.
    ///   - make: Makes the chunks, from the beginning. The reader gets its errors.
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
        (self.whole, self.onSent, self.origin) = (whole, onSent, BodyOrigin())
    }

    /// Whether the chunks can still be read: false only for a one-shot stream that has been read.
    public var isReplayable: Bool {
        source.withLock { if case .spent = $0 { false } else { true } }
    }

    /// Returns the chunks from the beginning. A transport calls this once per attempt.
    ///
    /// - Throws: ``ReadError/alreadyRead``; the errors of the factory.
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

    /// Returns the chunks from the beginning; an error of ``chunks()`` is thrown in place of the first chunk.
    public func makeAsyncIterator() -> AsyncIterator {
        do {
            return try chunks()
        } catch {
            return AsyncIterator { throw error }
        }
    }

    /// Reads all chunks into one value.
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

/// The properties of a response's body by which it is read.
package struct BodyOrigin: Sendable {
    /// The coders of the service that the body comes from; nil for the standard ones.
    var coders: JsonCoders.Carried?
    /// The declared charset of text.
    var charset = TextCharset.utf8
    /// Makes a failure of the call out of a reader's error; nil for a body that comes from no call.
    var failure: (@Sendable (any Error) -> any Error)?

    package init(
        coders: JsonCoders.Carried? = nil,
        charset: TextCharset = .utf8,
        failure: (@Sendable (any Error) -> any Error)? = nil
    ) {
        (self.coders, self.charset, self.failure) = (coders, charset, failure)
    }
}

extension HttpBodyStream {
    /// The coders of the service that a response's body comes from; nil for the standard coders, and for any other
    /// body.
    package var coders: JsonCoders.Carried? { origin.coders }

    /// The charset that the body's `Content-Type` declares.
    package var charset: TextCharset { origin.charset }

    /// A reader's error as a failure of the call that the body comes from; as it is for any other body.
    package func failure(of error: any Error) -> any Error { origin.failure?(error) ?? error }
}

extension HttpBodyStream {
    /// Iterates over the chunks.
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

extension HttpBodyStream.ReadError: PrintableError {
    /// The reason, for people.
    public var description: String {
        switch self {
        case .alreadyRead: "the body was read before, and can be read only once"
        case .tooLarge(let limit): "the body, or a line or an event in it, is larger than the reader's \(limit) bytes"
        }
    }
}
