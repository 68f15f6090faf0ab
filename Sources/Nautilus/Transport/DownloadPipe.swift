import Foundation

/// The unread part of a body: the beginning in memory, the rest on disk.
///
/// One writer, which never waits, and one reader. Bytes are put together until they are read, so that a reader slower
/// than the network takes few large chunks and not many small ones.
final class DownloadPipe: Sendable {
    /// How many bytes are held in memory: 256 KiB, more than a network brings while a task is woken, and little enough to
    /// be held for a thousand readers.
    static let limit = 262_144

    /// How large one file on disk becomes before the next one is begun: 16 MiB. A file that has been read goes at once,
    /// so that a reader that is always a little behind leaves no file that grows with the body.
    static let fileSize = 16_777_216

    private struct Spool {
        let file: SpoolFile
        var length = 0
    }

    private struct State {
        var bytes = Data()
        /// The bytes that did not fit into memory, the oldest first.
        var spools: [Spool] = []
        /// Where in the first of them the reader is, and how many bytes of all are still to be read.
        var (position, spooled) = (0, 0)
        /// How it has ended; nil while more may come.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?

        mutating func write(_ new: Data, limit: Int) throws(TransportError) {
            if spools.isEmpty, bytes.count + new.count <= DownloadPipe.limit { return bytes.append(new) }
            guard spooled + new.count <= limit else { throw SpoolFile.overflow(limit, .maybeExecuted) }
            if (spools.last?.length ?? .max) >= DownloadPipe.fileSize { spools.append(Spool(file: try SpoolFile())) }
            let last = spools.count - 1
            try spools[last].file.append(new)
            spools[last].length += new.count
            spooled += new.count
        }

        /// The next bytes that are there; empty when there are none.
        mutating func take() throws(TransportError) -> Data {
            if !bytes.isEmpty {
                defer { bytes = Data() }
                return bytes
            }
            guard let spool = spools.first else { return Data() }
            let next = try spool.file.read(DownloadPipe.limit, from: UInt64(position))
            position += next.count
            spooled -= next.count
            if position == spool.length {
                spools.removeFirst()
                position = 0
            }
            return next
        }

        mutating func drop() {
            (bytes, spools, position, spooled) = (Data(), [], 0, 0)
        }
    }

    private let state = Locked(State())
    private let spoolLimit: Int

    /// - Parameter spoolLimit: The most bytes that wait on disk; beyond it the body ends with an error.
    init(spoolLimit: Int) {
        self.spoolLimit = spoolLimit
    }

    /// Takes bytes in, unless it has ended.
    func write(_ bytes: Data) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            do throws(TransportError) {
                try state.write(bytes, limit: spoolLimit)
            } catch {
                state.end = .failure(error)
            }
            return state.reader.take()
        }
        reader?.resume()
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
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if dropping || state.end == nil { state.end = end }
            if dropping { state.drop() }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The bytes that have come, as soon as there are any; nil after the last.
    ///
    /// - Throws: The error that the body has ended with.
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
                    let isReady = !state.bytes.isEmpty || !state.spools.isEmpty || state.end != nil
                    if !isReady { state.reader = reader }
                    return isReady
                }
                if isReady { reader.resume() }
            }
        }
    }
}
