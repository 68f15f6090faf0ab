import Foundation

/// An open regular file, closed with the last reference. Every read and write says where.
///
/// Reads and writes hold their thread up for as long as the disk does, which for a local file is less than a change of
/// threads.
package final class LocalFile: Sendable {
    private let name: String
    private let descriptor: Int32

    /// Opens a file to read it.
    convenience init(reading url: URL) throws(HttpFileError) {
        // Without waiting for a named pipe's writer.
        try self.init(url, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HttpFileError("fstat", name: name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(name: name) }
    }

    /// Creates a file that only this user can use, and that counts as in use until it is closed; one that is there
    /// already is an error.
    package convenience init(creating url: URL) throws(HttpFileError) {
        try self.init(url, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        AbandonedFiles.hold(descriptor)
    }

    private init(_ url: URL, _ flags: Int32) throws(HttpFileError) {
        let (name, path) = (url.lastPathComponent, url.path)
        self.name = name
        descriptor = try repeating("open", name) { open(path, flags | O_CLOEXEC, 0o600) }
    }

    deinit { _ = close(descriptor) }

    /// How many bytes it has.
    func size() throws(HttpFileError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HttpFileError("fstat", name: name) }
        return Int64(status.st_size)
    }

    /// The bytes from `offset` on, at most `count`; empty at the end.
    func read(at offset: Int64, upTo count: Int) throws(HttpFileError) -> Data {
        var data = Data(count: count)
        let (descriptor, name) = (descriptor, name)
        let read = data.withUnsafeMutableBytes { buffer in
            Result { () throws(HttpFileError) in
                try repeating("read", name) { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
            }
        }
        let taken = try read.get()
        return taken < count ? data.prefix(taken) : data
    }

    /// Writes all of `data`, in as many parts as the system takes.
    package func write(_ data: Data, at offset: Int64) throws(HttpFileError) {
        try data.withUnsafeBytes { buffer in
            Result { () throws(HttpFileError) in try self.write(buffer, at: off_t(offset)) }
        }.get()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: off_t) throws(HttpFileError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = try repeating("write", name) {
                pwrite(descriptor, rest.baseAddress, rest.count, offset + off_t(written))
            }
            // Nothing written, and no reason given: asking again might never end.
            guard count > 0 else { throw HttpFileError("write", name: name, code: EIO) }
            written += count
        }
    }

    /// Drops all its bytes.
    package func empty() throws(HttpFileError) {
        try repeating("ftruncate", name) { ftruncate(descriptor, 0) }
    }

    /// Gives the file at `source` the name `target`, in place of any file that has it, at once.
    package static func move(_ source: URL, to target: URL) throws(HttpFileError) {
        let (from, to) = (source.path, target.path)
        try repeating("rename", target.lastPathComponent) { rename(from, to) }
    }
}

/// Calls the system until it is not interrupted by a signal.
@discardableResult
private func repeating<Count: SignedInteger>(
    _ operation: String,
    _ name: String,
    _ call: () -> Count
) throws(HttpFileError) -> Count {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        guard code == EINTR else { throw HttpFileError(operation, name: name, code: code) }
    }
}

/// Files that killed processes have left: they have names of ours, and no process has them open.
///
/// A process locks such a file for as long as it is open, and the system frees the lock when the process ends, however
/// it ends. On iOS and its like no lock is held, since the system ends an app that is suspended with one in a container
/// that it shares (0xdead10cc); there only age tells.
package enum AbandonedFiles {
    /// The purpose of a file, which is part of its name.
    package enum Purpose: String, Sendable {
        /// The part of a download, beside its target.
        case partial
        /// A body that waits on disk until it is sent, among the system's temporary files.
        case spool

        /// A name for a new file, which no other has.
        package func name() -> String { prefix + UUID().uuidString + suffix }

        fileprivate var prefix: String { self == .partial ? ".nautilus-" : "nautilus-" }
        fileprivate var suffix: String { "." + rawValue }
    }

    /// How long a file has to lie unwritten before it counts as abandoned. Where a lock tells whether it is in use, an
    /// hour, so that a file which has just been created and is not locked yet is safe; a week elsewhere.
    static var patience: Duration {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            .seconds(604_800)
        #else
            .seconds(3600)
        #endif
    }

    /// Where folders are looked through, one after the other: a large one takes long.
    static let queue = BlockingQueue(label: "nautilus.abandoned-files")
    /// The folders that this process has looked through, by purpose.
    private static let visited = Locked<Set<String>>([])
    private static let maxVisited = 1_000

    /// Holds a file that is in use, until it is closed.
    static func hold(_ descriptor: Int32) {
        #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            // Where the file system has no locks, this one cannot be had, and the file stays.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
        #endif
    }

    /// Removes the files left in a folder, later and on a thread of its own; nothing when this process has done so
    /// before, in one of the last thousand folders at most.
    package static func collect(_ purpose: Purpose, in folder: URL) {
        let isFirst = visited.withLock { visited in
            if visited.count >= maxVisited { visited.removeAll() }
            return visited.insert("\(purpose) \(folder.path)").inserted
        }
        guard isFirst else { return }
        queue.begin { remove(purpose, in: folder, at: Date()) }
    }

    /// Removes the files left in a folder.
    ///
    /// - Parameter now: The time, by the clock that dates files.
    static func remove(_ purpose: Purpose, in folder: URL, at now: Date) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(purpose.prefix) && name.hasSuffix(purpose.suffix) {
            let path = folder.appendingPathComponent(name).path
            // One that cannot be opened is another user's.
            guard let file = try? OpenFile(path, O_RDWR), let status = try? file.status(), status.isRegularFile,
                now.timeIntervalSince1970 - TimeInterval(status.modified.tv_sec) >= patience / .seconds(1),
                (try? file.lock()) == true
            else { continue }
            _ = unlink(path)
        }
    }
}
