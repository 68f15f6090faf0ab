import Foundation

/// What has come of a body and has not been read yet: the beginning in memory, the rest on disk.
///
/// One writer, who never waits, and one reader. What comes is put together until it is read, so that a reader who is
/// slower than the network takes few large chunks and not many small ones.
final class DownloadPipe: Sendable {
    /// How many bytes are held in memory: 256 KiB, more than a network brings while a task is woken, and little enough to
    /// be held for a thousand readers.
    static let limit = 262_144

    private struct State {
        var bytes = Data()
        /// What did not fit; nil when all did.
        var spool: SpoolFile?
        /// Where in it the reader and the writer are.
        var (position, length): (UInt64, UInt64) = (0, 0)
        /// How it has ended; nil while more may come.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?

        mutating func write(_ new: Data) throws(TransportError) {
            if spool == nil, bytes.count + new.count <= DownloadPipe.limit { return bytes.append(new) }
            let file: SpoolFile
            if let spool { file = spool } else { file = try SpoolFile() }
            try file.append(new)
            (spool, length) = (file, length + UInt64(new.count))
        }

        /// What comes next of what is there; empty when nothing is.
        mutating func take() throws(TransportError) -> Data {
            if !bytes.isEmpty {
                defer { bytes = Data() }
                return bytes
            }
            guard let spool else { return Data() }
            let next = try spool.read(DownloadPipe.limit, from: position)
            position += UInt64(next.count)
            if position == length { (self.spool, position, length) = (nil, 0, 0) }
            return next
        }

        mutating func drop() {
            (bytes, spool, position, length) = (Data(), nil, 0, 0)
        }
    }

    private let state = Locked(State())

    /// Takes bytes in, unless it has ended.
    func write(_ bytes: Data) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            do throws(TransportError) {
                try state.write(bytes)
            } catch {
                state.end = .failure(error)
            }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Ends it; only the first end counts. What has come before can still be read.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        close(end, dropping: false)
    }

    /// Ends it for a reader who has gone: what has come is dropped, and the end is a cancellation even if all had come, so
    /// that nobody takes the part that was read for the whole.
    func abandon() {
        close(.failure(CancellationError()), dropping: true)
    }

    private func close(_ end: Result<Void, any Error>, dropping: Bool) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if dropping || state.end == nil { state.end = end }
            if dropping { state.drop() }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The bytes that have come, as soon as there are any; nil after the last.
    ///
    /// - Throws: What it has ended with.
    func next() async throws -> Data? {
        while true {
            let (bytes, end) = try state.withLock { state in (try state.take(), state.end) }
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await withCheckedContinuation { reader in
                let isReady = state.withLock { state in
                    let isReady = !state.bytes.isEmpty || state.spool != nil || state.end != nil
                    if !isReady { state.reader = reader }
                    return isReady
                }
                if isReady { reader.resume() }
            }
        }
    }
}
