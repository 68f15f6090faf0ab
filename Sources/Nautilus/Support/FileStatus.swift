import Foundation

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
