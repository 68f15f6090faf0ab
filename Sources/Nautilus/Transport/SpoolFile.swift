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
/// still being made, would hold up every other. So what cannot go on yet waits here, and not in memory.
final class SpoolFile: Sendable {
    let url: URL
    private let handle: FileHandle
    private let delivery: Delivery

    /// An empty file.
    ///
    /// - Parameters:
    ///   - folder: Where it is to be. Default: where the system has its temporary files.
    ///   - delivery: What the server may have done when there is no room. Default: anything, as for a body that comes.
    /// - Throws: ``TransportError`` when it cannot be created.
    init(
        in folder: URL = FileManager.default.temporaryDirectory,
        delivery: Delivery = .maybeExecuted
    ) throws(TransportError) {
        self.delivery = delivery
        url = folder.appendingPathComponent("nautilus-\(UUID().uuidString)")
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(delivery) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// A file with the chunks of `stream`, which are sent when all of them are there.
    ///
    /// - Parameter folder: Where it is to be. Default: where the system has its temporary files.
    /// - Throws: ``TransportError`` when it cannot be written, or the stream has been read before; what the stream throws.
    convenience init(_ stream: HttpBodyStream, in folder: URL = FileManager.default.temporaryDirectory) async throws {
        try self.init(in: folder, delivery: .notSent)
        do {
            for try await chunk in stream { try append(chunk) }
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

    private static func failure(_ delivery: Delivery) -> TransportError {
        .failed(
            .cannotWriteToFile,
            delivery: delivery,
            reason: "The body did not fit into the folder for temporary files; make room there, or choose another "
                + "(TMPDIR)."
        )
    }
}
