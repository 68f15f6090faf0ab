import Foundation

/// An open file, closed with the value. Interrupted calls are repeated, and none is inherited by a child process.
package struct OpenFile: ~Copyable {
    private let descriptor: Int32

    /// Opens `path`, and does not follow it if it is a symbolic link. It never waits, for a named pipe's writer say.
    package init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) {
        let flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        descriptor = try repeating("open") { open(path, flags, mode) }
    }

    deinit { _ = close(descriptor) }

    /// Its owner, size and kind.
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
            // Nothing written, and no reason given: asking again might never end.
            guard count > 0 else { throw SystemFailure("write", code: EIO) }
            written += count
        }
    }

    /// Sets its permissions, whatever the umask took away when it was created.
    package func setMode(_ mode: mode_t) throws(SystemFailure) {
        try repeating("fchmod") { fchmod(descriptor, mode) }
    }

    /// Sets when it was changed.
    package func setModified(_ time: timespec) throws(SystemFailure) {
        try repeating("futimens") { futimens(descriptor, [time, time]) }
    }

    /// Returns once its content would survive a power failure.
    package func synchronize() throws(SystemFailure) {
        #if canImport(Darwin)
            // There, `fsync` leaves the bytes in the drive's own cache. Not every file system knows better.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try repeating("fsync") { fsync(descriptor) }
    }

    /// Takes the lock, without waiting.
    ///
    /// - Returns: Whether it is taken; false while another open file has it.
    package func lock() throws(SystemFailure) -> Bool {
        do {
            try repeating("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Closes it: network file systems say no earlier that they have no room.
    package consuming func finish() throws(SystemFailure) {
        // Closed even if that is interrupted: a second time could hit a file that another thread has opened.
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

// Free functions, since within the type its own methods hide the system's.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// Calls the system until it is not interrupted by a signal.
@discardableResult
package func repeating<Count: SignedInteger>(_ operation: String, _ call: () -> Count) throws(SystemFailure) -> Count {
    while true {
        let result = call()
        if result >= 0 { return result }
        let failure = SystemFailure(operation)
        guard failure.code == EINTR else { throw failure }
    }
}

/// The facts that the system knows of a file without reading it.
package struct FileStatus {
    private let status: stat

    package init(_ status: stat) {
        self.status = status
    }

    /// Creates the status of the file or folder at `path`; nil when there is none.
    ///
    /// - Parameters:
    ///   - path: Where to look.
    ///   - followsLinks: Whether a symbolic link stands for what it points at.
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
    /// In bytes.
    package var size: Int { Int(status.st_size) }

    /// Its number on its disk.
    package var inode: UInt64 { UInt64(status.st_ino) }

    /// Whether this process's user alone may use it.
    package var isPrivate: Bool { status.st_uid == geteuid() && mode & 0o077 == 0 }

    /// Whether both are the same file, by whatever names.
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

/// A system call that failed, before it is known what that means for the data to be stored.
package struct SystemFailure: Error, Hashable {
    package let operation: String
    package let code: Int32

    /// Reads `errno`, so it has to be the first thing after the call.
    package init(_ operation: String) {
        self.init(operation, code: errno)
    }

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
