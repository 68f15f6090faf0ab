import Foundation

/// A body that comes in chunks, and remembers whether it can come again.
public final class HttpBodyStream: Sendable {
    /// Why a stream cannot be read.
    public enum ReadError: Error, Hashable, Sendable {
        /// A one-shot stream was read before; declare the body with a factory to make it replayable.
        case alreadyRead
        /// The chunks added up to more than the reader takes, in bytes.
        case tooLarge(limit: Int)
    }

    private enum Source {
        case once(AsyncThrowingStream<Data, any Error>)
        case factory(@Sendable () -> AsyncThrowingStream<Data, any Error>)
        case spent
    }

    private let source: Locked<Source>
    /// Whether the chunks come only once.
    public let isOneShot: Bool

    /// A stream that comes once.
    public init(once chunks: AsyncThrowingStream<Data, any Error>) {
        self.source = Locked(.once(chunks))
        self.isOneShot = true
    }

    /// A stream that is made anew for everyone who reads it.
    public init(from make: @escaping @Sendable () -> AsyncThrowingStream<Data, any Error>) {
        self.source = Locked(.factory(make))
        self.isOneShot = false
    }

    /// Whether ``chunks()`` can still be called.
    public var isReplayable: Bool {
        source.withLock { if case .spent = $0 { false } else { true } }
    }

    /// The chunks from the beginning. A transport calls this once per attempt.
    ///
    /// - Throws: ``ReadError/alreadyRead``.
    public func chunks() throws -> AsyncThrowingStream<Data, any Error> {
        let source = source.withLock { source in
            let taken = source
            if case .once = source { source = .spent }
            return taken
        }
        switch source {
        case .once(let chunks): return chunks
        case .factory(let make): return make()
        case .spent: throw ReadError.alreadyRead
        }
    }

    /// The chunks as one value.
    func collected(limit: Int) async throws -> Data {
        var data = Data()
        for try await chunk in try chunks() {
            guard data.count + chunk.count <= limit else { throw ReadError.tooLarge(limit: limit) }
            data.append(chunk)
        }
        return data
    }
}
