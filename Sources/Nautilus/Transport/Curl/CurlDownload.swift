import Foundation

/// A part of a response's body that has come and has not been read yet.
///
/// One writer, a loop, that never waits but is told to stop; and one reader, a task. Bytes are put together until they
/// are read, so that a reader slower than the network takes few large chunks and not many small ones.
final class CurlDownload: Sendable {
    /// The number of bytes from which on the server is to wait: 256 KiB, more than a network brings while a task is
    /// woken, and little enough to be held for a thousand readers.
    static let limit = 262_144

    private struct State {
        var bytes = Data()
        /// How it has ended; nil while more may come.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Whether the writer has been told to stop, and waits to be told to go on.
        var isPaused = false
    }

    private let state = Locked(State())

    /// Whether the writer is to stop; it is told when there is room again, by ``next(goOn:)``.
    func isFull() -> Bool {
        state.withLock { state in
            guard state.end == nil, state.bytes.count >= Self.limit else { return false }
            state.isPaused = true
            return true
        }
    }

    /// Takes bytes in; false when they are no longer wanted.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isOpen, reader) = state.withLock { state in
            guard state.end == nil else { return (false, CheckedContinuation<Void, Never>?.none) }
            state.bytes.append(contentsOf: bytes)
            return (true, state.reader.take())
        }
        reader?.resume()
        return isOpen
    }

    /// Ends it; only the first end counts. Bytes that came before can still be read.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        close(end, dropping: false)
    }

    /// Ends it for a reader that has gone: unread bytes are dropped, and the end is a cancellation even if all had
    /// come, so that the part that was read is not taken for the whole.
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

    /// The bytes that have come, as soon as there are any; nil after the last.
    ///
    /// - Parameter goOn: Tells the writer that there is room again.
    /// - Throws: The error that the download has ended with.
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
            await withCheckedContinuation { reader in
                let isReady = state.withLock { state in
                    let isReady = !state.bytes.isEmpty || state.end != nil
                    if !isReady { state.reader = reader }
                    return isReady
                }
                if isReady { reader.resume() }
            }
        }
    }
}
