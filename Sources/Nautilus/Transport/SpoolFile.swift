import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A temporary file that only its owner may read, and that is gone with the value.
///
/// All sessions of Foundation share one queue on Linux, and one that waited for a slow reader, or for a body that is
/// still being made, would hold up every other. So bytes that cannot go on yet wait here, and not in memory.
final class SpoolFile: Sendable {
    /// Where it is; nil for one that is only read back here, which has no name: a process that is killed leaves nothing.
    let url: URL?
    private let handle: FileHandle
    private let delivery: Delivery

    /// An empty file without a name.
    ///
    /// - Parameter folder: Where it is to be. Default: where the system has its temporary files.
    /// - Throws: ``TransportError`` when it cannot be created.
    convenience init(in folder: URL = FileManager.default.temporaryDirectory) throws(TransportError) {
        // The server may have done anything: a body comes.
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

    /// A file with the chunks of `stream`, which are sent when all of them are there. It has a name, by which it is sent;
    /// those that killed processes have left are removed.
    ///
    /// - Parameters:
    ///   - limit: The most bytes.
    ///   - folder: Where it is to be. Default: where the system has its temporary files.
    /// - Throws: ``TransportError`` when it cannot be written, would be larger than `limit`, or the stream has been
    ///   read before; the errors of the stream.
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
        // A cancelled stream ends early without an error, and half a body must not be sent.
        try Task.checkCancellation()
    }

    /// - Throws: ``TransportError``, for a full disk above all.
    func append(_ bytes: Data) throws(TransportError) {
        do {
            try handle.seekToEnd()
            try handle.write(contentsOf: bytes)
        } catch {
            throw Self.failure(delivery)
        }
    }

    /// At most `count` bytes from `offset` on.
    ///
    /// - Throws: ``TransportError``.
    func read(_ count: Int, from offset: UInt64) throws(TransportError) -> Data {
        do {
            try handle.seek(toOffset: offset)
            return try handle.read(upToCount: count) ?? Data()
        } catch {
            throw Self.failure(delivery)
        }
    }

    /// - Returns: The error of a body that would take more than `limit` bytes of the disk.
    static func overflow(_ limit: Int, _ delivery: Delivery) -> TransportError {
        .failed(
            .dataLengthExceedsMaximum,
            delivery: delivery,
            reason: "More than \(limit) bytes of a body would wait on disk; read it faster, send a file, or raise the "
                + "transport's spoolLimit."
        )
    }

    private static func failure(_ delivery: Delivery) -> TransportError {
        .failed(
            .cannotWriteToFile,
            delivery: delivery,
            reason: "The body did not fit into the folder for temporary files; make room there, or choose another "
                + "(TMPDIR)."
        )
    }
}
