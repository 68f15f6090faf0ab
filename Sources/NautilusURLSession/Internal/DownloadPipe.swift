import Foundation
import NautilusHTTP

/// The unread part of a body, with its beginning in memory and the rest on disk.
///
/// It has one writer, which never waits, and one reader. Bytes are collected until they are read, so that a slow reader
/// gets few large chunks instead of many small ones.
final class DownloadPipe: Sendable {
    /// How many bytes are held in memory: 256 KiB. This is more than arrives before a waiting task runs again, and
    /// little enough for a thousand readers at once.
    static let limit = 262_144

    /// How large a file on disk may grow before the pipe begins another: 16 MiB. Each file is removed as soon as it has
    /// been read, so that no file grows with the body if a reader is always a little behind.
    static let fileSize = 16_777_216

    private struct Spool {
        let file: SpoolFile
        var length = 0
    }

    private struct State {
        var bytes = Data()
        /// The bytes that did not fit into memory, the oldest first.
        var spools: [Spool] = []
        /// The reader's position in the first file, and how many bytes in all files are still unread.
        var (position, spooled) = (0, 0)
        /// How the body has ended; nil while more may arrive.
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

        /// Removes and returns the next bytes; empty if there are none.
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

    /// - Parameter spoolLimit: How many bytes may wait on disk. If there are more, the body ends with an error.
    init(spoolLimit: Int) {
        self.spoolLimit = spoolLimit
    }

    /// Adds bytes, unless the body has ended.
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

    /// Ends the body; only the first end counts. Bytes that arrived before can still be read.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        close(end, dropping: false)
    }

    /// Ends the body because nobody reads it any more. Unread bytes are dropped, and the end is a cancellation even if
    /// all bytes had arrived, so that nobody takes the part that was read for the whole.
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

    /// Waits for bytes and returns the next ones; nil after the last.
    ///
    /// - Throws: The error with which the body has ended.
    func next() async throws -> Data? {
        while true {
            let (bytes, end) = try state.withLock { state in (try state.take(), state.end) }
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await state.wait(in: \.reader) { $0.bytes.isEmpty && $0.spools.isEmpty && $0.end == nil }
        }
    }
}

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A temporary file that only this user may read. It is removed when the object is released.
///
/// On Linux, all of Foundation's sessions share one queue. If a session waited for a slow reader, or for a body that is
/// still being made, all other sessions would wait, too. So a session never waits: bytes that cannot be passed on yet
/// are written to this file, to save memory.
final class SpoolFile: Sendable {
    /// Where the file is; nil for a file that only this object reads. Such a file has no name, so that a killed process
    /// leaves nothing behind.
    let url: URL?
    private let handle: FileHandle
    private let delivery: Delivery

    /// Creates an empty file without a name.
    ///
    /// - Parameter folder: The folder for the file. Default: the system's folder for temporary files.
    /// - Throws: `TransportError` when it cannot be created.
    convenience init(in folder: URL = FileManager.default.temporaryDirectory) throws(TransportError) {
        // The request may have been executed, since a body is arriving.
        try self.init(in: folder, keepsName: false, delivery: .maybeExecuted)
    }

    private init(in folder: URL, keepsName: Bool, delivery: Delivery) throws(TransportError) {
        self.delivery = delivery
        let url = folder.appendingPathComponent(AbandonedFiles.Purpose.spool.name())
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(delivery) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.url = keepsName ? url : nil
        if keepsName {
            AbandonedFiles.hold(descriptor)
        } else {
            _ = unlink(url.path)
        }
    }

    deinit {
        if let url { try? FileManager.default.removeItem(at: url) }
    }

    /// Creates a file with the chunks of `stream`. It has a name, since Foundation sends a file by its name. Files that
    /// killed processes have left in the folder are removed.
    ///
    /// - Parameters:
    ///   - limit: The most bytes.
    ///   - folder: The folder for the file. Default: the system's folder for temporary files.
    /// - Throws: `TransportError` if the file cannot be written or would be larger than `limit`, or if the stream has
    ///   been read before; the errors of the stream.
    convenience init(
        _ stream: HttpBodyStream,
        limit: Int,
        in folder: URL = FileManager.default.temporaryDirectory
    ) async throws {
        try self.init(in: folder, keepsName: true, delivery: .notSent)
        AbandonedFiles.collect(.spool, in: folder)
        do {
            var size = 0
            for try await chunk in stream {
                size += chunk.count
                guard size <= limit else { throw Self.overflow(limit, .notSent) }
                try append(chunk)
            }
        } catch let error as HttpBodyStream.ReadError {
            throw TransportError(error)
        }
        // A cancelled stream ends early without an error, and a part of a body must not be sent.
        try Task.checkCancellation()
    }

    /// Appends bytes to the file.
    ///
    /// - Throws: `TransportError`, for example if the disk is full.
    func append(_ bytes: Data) throws(TransportError) {
        do {
            try handle.seekToEnd()
            try handle.write(contentsOf: bytes)
        } catch {
            throw Self.failure(delivery)
        }
    }

    /// Reads at most `count` bytes from `offset` on.
    ///
    /// - Throws: `TransportError`.
    func read(_ count: Int, from offset: UInt64) throws(TransportError) -> Data {
        do {
            try handle.seek(toOffset: offset)
            return try handle.read(upToCount: count) ?? Data()
        } catch {
            throw Self.failure(delivery)
        }
    }

    /// - Returns: The error for a body that would take more than `limit` bytes on disk.
    static func overflow(_ limit: Int, _ delivery: Delivery) -> TransportError {
        .failed(
            .dataLengthExceedsMaximum,
            delivery: delivery,
            reason: "More than \(limit) bytes of a body would have to be stored on disk; read the body faster, send a "
                + "file instead of a stream, or raise the transport's spoolLimit."
        )
    }

    private static func failure(_ delivery: Delivery) -> TransportError {
        .failed(
            .cannotWriteToFile,
            delivery: delivery,
            reason: "A file for the body could not be created, written or read in the folder for temporary files; make "
                + "room there, or choose another folder (TMPDIR)."
        )
    }
}

/// The body of a streamed exchange, held by its reader. Releasing this object ends the exchange.
final class StreamedBody: Sendable {
    private let pipe: DownloadPipe
    private let end: @Sendable () -> Void

    init(_ pipe: DownloadPipe, end: @escaping @Sendable () -> Void) {
        self.pipe = pipe
        self.end = end
    }

    deinit {
        end()
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await pipe.next()
        } onCancel: {
            end()
        }
    }
}
