import Foundation

/// An open regular file, closed with the last reference. Every read and write names its offset.
///
/// Reads and writes block their thread while the disk works, which for a local file takes less time than switching
/// threads.
package final class LocalFile: Sendable {
    private let name: String
    private let descriptor: Int32

    /// Opens a file to read it.
    convenience init(reading url: URL) throws(HttpBodyStream.FileError) {
        // `O_NONBLOCK`, so as not to wait for a named pipe's writer.
        try self.init(url, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HttpBodyStream.FileError("fstat", name: name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(name: name) }
    }

    /// Creates a file that only this user can use, and that counts as in use until it is closed; fails if the file
    /// exists.
    package convenience init(creating url: URL) throws(HttpBodyStream.FileError) {
        try self.init(url, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        AbandonedFiles.hold(descriptor)
    }

    private init(_ url: URL, _ flags: Int32) throws(HttpBodyStream.FileError) {
        let (name, path) = (url.lastPathComponent, url.path)
        self.name = name
        descriptor = try repeating("open", name) { open(path, flags | O_CLOEXEC, 0o600) }
    }

    deinit { _ = close(descriptor) }

    /// The file's size in bytes.
    func size() throws(HttpBodyStream.FileError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HttpBodyStream.FileError("fstat", name: name) }
        return Int64(status.st_size)
    }

    /// Reads at most `count` bytes from `offset` on; returns none at the end.
    func read(at offset: Int64, upTo count: Int) throws(HttpBodyStream.FileError) -> Data {
        var data = Data(count: count)
        let (descriptor, name) = (descriptor, name)
        let read = data.withUnsafeMutableBytes { buffer in
            Result { () throws(HttpBodyStream.FileError) in
                try repeating("read", name) { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
            }
        }
        let taken = try read.get()
        return taken < count ? data.prefix(taken) : data
    }

    /// Writes all of `data`, in as many parts as the system takes.
    package func write(_ data: Data, at offset: Int64) throws(HttpBodyStream.FileError) {
        try data.withUnsafeBytes { buffer in
            Result { () throws(HttpBodyStream.FileError) in try self.write(buffer, at: off_t(offset)) }
        }.get()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: off_t) throws(HttpBodyStream.FileError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = try repeating("write", name) {
                pwrite(descriptor, rest.baseAddress, rest.count, offset + off_t(written))
            }
            // Nothing was written, and no reason given: trying again might never end.
            guard count > 0 else { throw HttpBodyStream.FileError("write", name: name, code: EIO) }
            written += count
        }
    }

    /// Drops all bytes of the file.
    package func empty() throws(HttpBodyStream.FileError) {
        try repeating("ftruncate", name) { ftruncate(descriptor, 0) }
    }

    /// Renames the file at `source` to `target`, replacing any file there in one atomic step.
    package static func move(_ source: URL, to target: URL) throws(HttpBodyStream.FileError) {
        let (from, to) = (source.path, target.path)
        try repeating("rename", target.lastPathComponent) { rename(from, to) }
    }
}

/// Repeats a system call until no signal interrupts it.
@discardableResult
private func repeating<Count: SignedInteger>(
    _ operation: String,
    _ name: String,
    _ call: () -> Count
) throws(HttpBodyStream.FileError) -> Count {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        guard code == EINTR else { throw HttpBodyStream.FileError(operation, name: name, code: code) }
    }
}

/// Files that killed processes have left: they are named as this package names files, and no process has them open.
///
/// A process locks such a file for as long as it is open, and the system frees the lock when the process ends, however
/// it ends. On iOS and its like no lock is held, since the system kills an app that is suspended while it holds a lock
/// in a shared container (0xdead10cc); there only the file's age tells.
package enum AbandonedFiles {
    /// The purpose of a file, which is part of its name.
    package enum Purpose: String, Sendable {
        /// The part of a download that has arrived, next to the target.
        case partial
        /// A body that waits on disk until it is sent, among the system's temporary files.
        case spool

        /// Makes a unique name for a new file.
        package func name() -> String { prefix + UUID.random().uuidString + suffix }

        fileprivate var prefix: String { self == .partial ? ".nautilus-" : "nautilus-" }
        fileprivate var suffix: String { "." + rawValue }
    }

    /// How long a file has to be unchanged before it counts as abandoned. Where a lock tells whether it is in use, an
    /// hour, so that a file which was just created and is not locked yet is safe; a week elsewhere.
    static var abandonedAge: Duration {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            .seconds(604_800)
        #else
            .seconds(3600)
        #endif
    }

    /// The queue on which folders are searched, one after the other, since a large folder takes long.
    static let queue = BlockingQueue(label: "nautilus.abandoned-files")
    /// When this process has last searched a folder, by purpose.
    private static let visited = Locked<[String: ContinuousClock.Instant]>([:])
    private static let maxVisited = 1_000

    /// Marks a file as in use until it is closed.
    package static func hold(_ descriptor: Int32) {
        #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            // If the file system has no locks, this fails, and so does the lock without which nothing is removed.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
        #endif
    }

    /// Removes the files left in a folder, later and on another thread. Does nothing if this process has done so
    /// within the last ``abandonedAge``; it remembers up to a thousand folders.
    package static func collect(_ purpose: Purpose, in folder: URL) {
        let now = ContinuousClock.now
        let isDue = visited.withLock { visited in
            if visited.count >= maxVisited { visited.removeAll() }
            let place = "\(purpose) \(folder.path)"
            if let last = visited[place], now - last < abandonedAge { return false }
            visited[place] = now
            return true
        }
        guard isDue else { return }
        queue.begin { remove(purpose, in: folder, at: Date()) }
    }

    /// Removes the files left in a folder.
    ///
    /// - Parameter now: The time, by the clock that dates files.
    static func remove(_ purpose: Purpose, in folder: URL, at now: Date) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(purpose.prefix) && name.hasSuffix(purpose.suffix) {
            let path = folder.appendingPathComponent(name).path
            // A file that cannot be opened is another user's.
            guard let file = try? OpenFile(path, O_RDWR), let status = try? file.status(), status.isRegularFile,
                now.timeIntervalSince1970 - TimeInterval(status.modified.tv_sec) >= abandonedAge / .seconds(1),
                (try? file.lock()) == true
            else { continue }
            _ = unlink(path)
        }
    }
}
