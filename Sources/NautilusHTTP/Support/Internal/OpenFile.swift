import Foundation

/// An open file, closed with the value. Interrupted system calls are repeated, and child processes do not inherit the
/// file.
package struct OpenFile: ~Copyable {
    private let descriptor: Int32

    /// Opens the file at `path`, without following a symbolic link. Never blocks, for instance to wait for a named
    /// pipe's writer.
    package init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) {
        let flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        descriptor = try repeating("open") { open(path, flags, mode) }
    }

    deinit { _ = close(descriptor) }

    /// The file's owner, size and kind.
    package func status() throws(SystemFailure) -> FileStatus {
        var status = stat()
        try repeating("fstat") { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Reads from the current position, up to the end or `limit` bytes.
    package func read(upTo limit: Int) throws(SystemFailure) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while data.count < limit {
            let wanted = min(buffer.count, limit - data.count)
            let count = try repeating("read") { readBytes(descriptor, &buffer, wanted) }
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }

    /// Writes all of `data`, in as many parts as the system takes.
    package func write(_ data: Data) throws(SystemFailure) {
        let bytes = [UInt8](data)
        var written = 0
        while written < bytes.count {
            let count = try repeating("write") {
                bytes.withUnsafeBytes {
                    writeBytes(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
                }
            }
            // Nothing was written, and no reason given: trying again might never end.
            guard count > 0 else { throw SystemFailure("write", code: EIO) }
            written += count
        }
    }

    /// Sets the file's permissions, including those that the umask took away when it was created.
    package func setMode(_ mode: mode_t) throws(SystemFailure) {
        try repeating("fchmod") { fchmod(descriptor, mode) }
    }

    /// Sets the time at which the file was last modified.
    package func setModified(_ time: timespec) throws(SystemFailure) {
        try repeating("futimens") { futimens(descriptor, [time, time]) }
    }

    /// Returns when the file's content would survive a power failure.
    package func synchronize() throws(SystemFailure) {
        #if canImport(Darwin)
            // On Darwin, `fsync` leaves the bytes in the drive's own cache. Not every file system supports
            // `F_FULLFSYNC`.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try repeating("fsync") { fsync(descriptor) }
    }

    /// Takes the file's lock, without waiting.
    ///
    /// - Returns: Whether the lock was taken; false while another open file holds it.
    package func lock() throws(SystemFailure) -> Bool {
        do {
            try repeating("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Closes the file and reports errors, since some network file systems report only now that they are full.
    package consuming func finish() throws(SystemFailure) {
        // An interrupted `close` has closed the file, too; closing again could close a file that another thread has
        // opened.
        let isClosed = close(descriptor) == 0 || errno == EINTR
        let failure = SystemFailure("close")
        discard self
        guard isClosed else { throw failure }
    }

    /// Hands the descriptor over to the caller, which closes it.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }
}

// Free functions, since inside the type its own methods hide the system's functions.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// Repeats a system call until no signal interrupts it.
@discardableResult
package func repeating<Count: SignedInteger>(_ operation: String, _ call: () -> Count) throws(SystemFailure) -> Count {
    while true {
        let result = call()
        if result >= 0 { return result }
        let failure = SystemFailure(operation)
        guard failure.code == EINTR else { throw failure }
    }
}

/// The facts that the system knows about a file without reading it.
package struct FileStatus {
    private let status: stat

    package init(_ status: stat) {
        self.status = status
    }

    /// Creates the status of the file or folder at `path`; nil if there is none.
    ///
    /// - Parameters:
    ///   - path: Where to look.
    ///   - followsLinks: Whether to report on the target of a symbolic link rather than on the link.
    package init?(of path: String, followsLinks: Bool) throws(SystemFailure) {
        var status = stat()
        do {
            if followsLinks {
                try repeating("stat") { stat(path, &status) }
            } else {
                try repeating("lstat") { lstat(path, &status) }
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        self.status = status
    }

    package var isRegularFile: Bool { status.st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
    /// The permissions.
    package var mode: mode_t { status.st_mode & 0o777 }
    /// The size in bytes.
    package var size: Int { Int(status.st_size) }

    /// The file's number on its disk.
    package var inode: UInt64 { UInt64(status.st_ino) }

    /// Whether only this process's user may use the file.
    package var isPrivate: Bool { isOwn && mode & 0o077 == 0 }

    /// Whether the file belongs to this process's user.
    package var isOwn: Bool { status.st_uid == geteuid() }

    /// Whether both are the same file, even under different names.
    package func isSameFile(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }

    #if canImport(Darwin)
        package var modified: timespec { status.st_mtimespec }
        package var changed: timespec { status.st_ctimespec }
    #else
        package var modified: timespec { status.st_mtim }
        package var changed: timespec { status.st_ctim }
    #endif
}

/// The failure of a system call, before it is known what it means for the data to be stored.
package struct SystemFailure: Error, Hashable {
    package let operation: String
    package let code: Int32

    /// Creates a failure from `errno`, so it has to come directly after the failed call.
    init(_ operation: String) {
        self.init(operation, code: errno)
    }

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
