import Foundation
import NautilusHTTP

/// The part of a response's body that has arrived and has not been read yet.
///
/// It has one writer, a loop, which never waits but is told to stop, and one reader, a task. Bytes are collected until
/// they are read, so that a reader slower than the network gets few large chunks and not many small ones.
final class CurlDownload: Sendable {
    /// The number of unread bytes at which the server has to wait: 256 KiB, more than a network brings while a task is
    /// woken, and little enough to be held for a thousand readers.
    static let limit = 262_144

    private struct State {
        var bytes = Data()
        /// How the body has ended; nil while more may arrive.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Whether the writer has been told to stop, and not yet to go on.
        var isPaused = false
    }

    private let state = Locked(State())

    /// Tells whether the writer has to stop; ``next(goOn:)`` tells it when there is room again.
    func isFull() -> Bool {
        state.withLock { state in
            guard state.end == nil, state.bytes.count >= Self.limit else { return false }
            state.isPaused = true
            return true
        }
    }

    /// Adds bytes; returns false if they are no longer wanted.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isOpen, reader) = state.withLock { state in
            guard state.end == nil else { return (false, CheckedContinuation<Void, Never>?.none) }
            state.bytes.append(contentsOf: bytes)
            return (true, state.reader.take())
        }
        reader?.resume()
        return isOpen
    }

    /// Ends the body; only the first end counts. Bytes that arrived before can still be read.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        close(end, dropping: false)
    }

    /// Ends the body because its reader has gone. Unread bytes are dropped, and the end is a cancellation even if all
    /// bytes had arrived, so that the part that was read is not taken for the whole.
    func abandon() {
        close(.failure(CancellationError()), dropping: true)
    }

    private func close(_ end: Result<Void, any Error>, dropping: Bool) {
        let reader = state.withLock { state in
            if dropping || state.end == nil { state.end = end }
            if dropping { state.bytes = Data() }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Waits for bytes and returns all that have arrived; nil after the last.
    ///
    /// - Parameter goOn: Tells the writer that there is room again.
    /// - Throws: The error with which the download has ended.
    func next(goOn: () -> Void) async throws -> Data? {
        while true {
            let (bytes, end, wasPaused) = state.withLock { state in
                defer { (state.bytes, state.isPaused) = (Data(), false) }
                return (state.bytes, state.end, state.isPaused)
            }
            if wasPaused { goOn() }
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await state.wait(in: \.reader) { $0.bytes.isEmpty && $0.end == nil }
        }
    }
}
