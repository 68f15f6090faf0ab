import Foundation

/// What has come of a body and has not been read yet: written by a thread that may wait, read by a task that must not.
///
/// One writer and one reader. What comes is put together until it is read, so that a reader who is slower than the
/// network takes few large chunks and not many small ones.
final class DownloadPipe: Sendable {
    /// From how many bytes on the writer is to wait: 256 KiB, more than a network brings while a task is woken, and
    /// little enough to be held for a thousand readers.
    static let limit = 262_144

    private struct State {
        var bytes = Data()
        /// How it has ended; nil while more may come.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        var writerWaits = false
        /// Tells the writer that there is room again, where it does not wait itself.
        var onRoom: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let room = DispatchSemaphore(value: 0)

    /// What is to be done, for a writer who does not wait, when there is room again.
    func onRoom(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onRoom = action }
    }

    /// Takes bytes in, unless it has ended; false when the writer is to wait until there is room.
    func write(_ bytes: Data) -> Bool {
        let (reader, hasRoom) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard state.end == nil else { return (nil, true) }
            state.bytes.append(bytes)
            state.writerWaits = state.bytes.count >= Self.limit
            return (state.reader.take(), !state.writerWaits)
        }
        reader?.resume()
        return hasRoom
    }

    /// Holds the writer's thread until there is room, or nobody reads any more.
    func waitForRoom() {
        room.wait()
    }

    /// Ends it; only the first end counts. What has come before can still be read.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        close(end, dropping: false)
    }

    /// Ends it for a reader who has gone: what has come is dropped, and the writer goes on at once.
    func abandon() {
        close(.failure(CancellationError()), dropping: true)
    }

    private func close(_ end: Result<Void, any Error>, dropping: Bool) {
        let (reader, wake) = state.withLock { state -> (CheckedContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            if state.end == nil { state.end = end }
            if dropping { state.bytes = Data() }
            return (state.reader.take(), wakeWriter(&state))
        }
        reader?.resume()
        wake?()
    }

    /// The bytes that have come, as soon as there are any; nil after the last.
    ///
    /// - Throws: What it has ended with.
    func next() async throws -> Data? {
        while true {
            let (bytes, end, wake) = state.withLock { state in
                let bytes = state.bytes
                state.bytes = Data()
                return (bytes, state.end, bytes.isEmpty ? nil : wakeWriter(&state))
            }
            wake?()
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

    /// What lets the writer go on; nil when it does not wait.
    private func wakeWriter(_ state: inout State) -> (@Sendable () -> Void)? {
        guard state.writerWaits else { return nil }
        state.writerWaits = false
        return state.onRoom ?? { [room] in room.signal() }
    }
}
