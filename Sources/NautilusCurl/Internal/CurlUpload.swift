import Foundation
import NautilusHTTP

/// A request's body on its way from a stream to a connection.
///
/// It has one writer, a task that makes the chunks and waits while there are enough, and one reader, a loop, which
/// never waits but is told when there is more. Nothing is made before the connection asks, so that a one-shot stream is
/// not used up for a server that cannot be reached.
final class CurlUpload: Sendable {
    /// How many bytes are made ahead: 256 KiB, more than a network takes while a task is woken.
    static let limit = 262_144

    /// The result of a read.
    enum Reading: Equatable {
        /// The number of bytes read; 0 at the end.
        case bytes(Int)
        /// No bytes yet; `onMore` will be called when there are some.
        case wait
        /// The stream has failed.
        case failed
    }

    fileprivate struct State {
        var hasBegun = false
        var chunks: [Data] = []
        /// How many bytes of the first chunk have been read.
        var offset = 0
        var count = 0
        /// How the stream has ended; nil while more may come.
        var end: Result<Void, any Error>?
        /// The task that makes the chunks, while it waits for the beginning or for room.
        var writer: CheckedContinuation<Void, Never>?
        var isReaderWaiting = false
        /// The task that makes the chunks; nil before it is known.
        var feeding: Task<Void, Never>?
        /// Whether the exchange is over.
        var isClosed = false
    }

    private let state = Locked(State())

    /// The error with which the stream has ended; nil if it has not ended, or has ended without one.
    var error: (any Error)? {
        state.withLock { if case .failure(let error) = $0.end { error } else { nil } }
    }

    /// Whether the connection has asked for anything.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }
}

/// The reader's side.
extension CurlUpload {
    /// Copies as many bytes as there are into `target`.
    func read(into target: UnsafeMutableRawBufferPointer) -> Reading {
        let (reading, writer) = state.withLock { state -> (Reading, CheckedContinuation<Void, Never>?) in
            state.hasBegun = true
            let count = state.take(into: target)
            if count > 0 { return (.bytes(count), state.count < Self.limit ? state.writer.take() : nil) }
            guard !state.isClosed else { return (.failed, nil) }
            switch state.end {
            case .success: return (.bytes(0), nil)
            case .failure: return (.failed, nil)
            case nil:
                state.isReaderWaiting = true
                return (.wait, state.writer.take())
            }
        }
        writer?.resume()
        return reading
    }

    /// Ends the upload and the task that makes its chunks, when the exchange is over.
    func close() {
        let (writer, feeding) = state.withLock { state in
            state.isClosed = true
            (state.chunks, state.count, state.offset) = ([], 0, 0)
            return (state.writer.take(), state.feeding.take())
        }
        feeding?.cancel()
        writer?.resume()
    }
}

extension CurlUpload.State {
    fileprivate mutating func take(into target: UnsafeMutableRawBufferPointer) -> Int {
        var taken = 0
        var used = 0
        while used < chunks.count, taken < target.count {
            let chunk = chunks[used]
            let part = min(chunk.count - offset, target.count - taken)
            let range = (chunk.startIndex + offset)..<(chunk.startIndex + offset + part)
            chunk.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: target[taken...]), from: range)
            taken += part
            offset += part
            if offset == chunk.count { (used, offset) = (used + 1, 0) }
        }
        chunks.removeFirst(used)
        count -= taken
        return taken
    }
}

/// The writer's side.
extension CurlUpload {
    /// Has `task` make the chunks, by ``feed(_:onMore:)``, until the exchange is over.
    func feed(by task: Task<Void, Never>) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.feeding = task }
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    /// Makes the chunks of `stream`, each as soon as there is room for it.
    ///
    /// - Parameter onMore: Tells the reader to read again.
    func feed(_ stream: HttpBodyStream, onMore: () -> Void) async {
        guard await waits(while: { !$0.hasBegun }) else { return }
        do {
            var chunks = try stream.chunks()
            var left = stream.length
            var last = Data()
            while let chunk = try await chunks.next() {
                left? -= Int64(chunk.count)
                if let left, left < 0 { throw TransportError.wrongLength }
                guard left == 0, !chunk.isEmpty else {
                    guard await write(chunk, onMore) else { return }
                    continue
                }
                // The exchange may end with the last byte, and before that the stream has to know that all of it was
                // asked for.
                last = chunk
            }
            // A cancelled stream ends early without an error, and a part of a body must not be taken for the whole.
            try Task.checkCancellation()
            if let left, left > 0 { throw TransportError.wrongLength }
            guard await write(last, onMore) else { return }
            finish(.success(()), onMore)
        } catch {
            finish(.failure(error), onMore)
        }
    }

    /// Reads a stream that is declared to have no bytes.
    ///
    /// - Throws: If it has some; then nothing is sent. The stream's own error.
    static func expectNothing(of stream: HttpBodyStream) async throws {
        var chunks = try stream.chunks()
        while let chunk = try await chunks.next() {
            guard chunk.isEmpty else { throw TransportError.wrongLength.delivered(.notSent) }
        }
    }

    /// - Returns: Whether to continue.
    private func write(_ chunk: Data, _ onMore: () -> Void) async -> Bool {
        guard !chunk.isEmpty else { return true }
        let wasWaiting = state.withLock { state in
            guard !state.isClosed else { return false }
            state.chunks.append(chunk)
            state.count += chunk.count
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if wasWaiting { onMore() }
        return await waits { $0.count >= Self.limit }
    }

    private func finish(_ end: Result<Void, any Error>, _ onMore: () -> Void) {
        let wasWaiting = state.withLock { state in
            state.end = end
            // The task keeps the owner of this object alive.
            state.feeding = nil
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if wasWaiting { onMore() }
    }

    /// Waits until the condition is false.
    ///
    /// - Returns: Whether to continue; false if the exchange is over.
    private func waits(while condition: @Sendable (State) -> Bool) async -> Bool {
        while true {
            let (isOpen, isHeldUp) = state.withLock { (!$0.isClosed, condition($0)) }
            guard isOpen, isHeldUp else { return isOpen }
            await state.wait(in: \.writer) { !$0.isClosed && condition($0) }
        }
    }
}

extension TransportError {
    fileprivate static let wrongLength = TransportError.failed(
        .requestBodyStreamExhausted,
        delivery: .maybeExecuted,
        reason: "The body's stream has not as many bytes as were declared."
    )
}
