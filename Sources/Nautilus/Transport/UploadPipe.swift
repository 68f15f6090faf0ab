import Foundation

/// What is to be sent of a body next: written by a task, which must not be held up, read by a thread, which may wait.
///
/// One writer and one reader, and one chunk at a time: the next one is made when this one has been sent.
final class UploadPipe: Sendable {
    /// What a reader gets.
    enum Taken: Hashable {
        /// So many bytes, at least one.
        case bytes(Int)
        /// There are no more.
        case end
        /// The chunks have ended with an error, or nobody wants them any more.
        case failure
    }

    private struct State {
        var chunk = Data()
        /// How it has ended, for the reader; nil while more may come.
        var end: Taken?
        var writer: CheckedContinuation<Bool, Never>?
        var readerWaits = false
    }

    private let state = Locked(State())
    private let arrived = DispatchSemaphore(value: 0)

    /// Gives the reader a chunk, and returns when it has been taken; false when nobody wants more.
    func write(_ chunk: Data) async -> Bool {
        guard !chunk.isEmpty else { return true }
        return await withCheckedContinuation { writer in
            let hasEnded = state.withLock { state in
                guard state.end == nil else { return true }
                (state.chunk, state.writer) = (chunk, writer)
                wakeReader(&state)
                return false
            }
            if hasEnded { writer.resume(returning: false) }
        }
    }

    /// Ends it; only the first end counts.
    ///
    /// - Parameter end: What the reader gets after the last chunk. A failure comes before it.
    func finish(_ end: Taken) {
        let writer = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            wakeReader(&state)
            return state.writer.take()
        }
        writer?.resume(returning: false)
    }

    private func wakeReader(_ state: inout State) {
        guard state.readerWaits else { return }
        state.readerWaits = false
        arrived.signal()
    }

    /// Takes what fits into `buffer`, and holds the reader's thread until there is something.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Taken {
        guard !buffer.isEmpty else { return .bytes(0) }
        while true {
            let (taken, writer) = state.withLock { state -> (Taken?, CheckedContinuation<Bool, Never>?) in
                if state.end == .failure { return (.failure, nil) }
                guard !state.chunk.isEmpty else {
                    state.readerWaits = state.end == nil
                    return (state.end, nil)
                }
                let count = state.chunk.copyBytes(to: buffer)
                state.chunk = state.chunk.dropFirst(count)
                return (.bytes(count), state.chunk.isEmpty ? state.writer.take() : nil)
            }
            writer?.resume(returning: true)
            if let taken { return taken }
            arrived.wait()
        }
    }
}
