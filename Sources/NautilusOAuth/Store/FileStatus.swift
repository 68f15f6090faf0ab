import Foundation

/// What the system knows of a file without reading it.
struct FileStatus {
    private let status: stat

    init(_ status: stat) {
        self.status = status
    }

    /// What is at `path`; nil when nothing is.
    ///
    /// - Parameters:
    ///   - path: Where to look.
    ///   - followsLinks: Whether a symbolic link stands for what it points at.
    init?(of path: String, followsLinks: Bool) throws(SystemFailure) {
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

    var isRegularFile: Bool { status.st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
    /// Who may do what.
    var mode: mode_t { status.st_mode & 0o777 }
    /// In bytes.
    var size: Int { Int(status.st_size) }

    /// Whether nobody but this process's user may use it.
    var isPrivate: Bool { status.st_uid == geteuid() && mode & 0o077 == 0 }

    /// Whether both are the same file, by whatever names.
    func isSameFile(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }

    /// Another one after each save: the file is a new one, and changed later than the one before.
    var version: CredentialVersion {
        let (modified, changed) = (modified, changed)
        return CredentialVersion(
            "\(status.st_ino) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec) \(size)"
        )
    }

    #if canImport(Darwin)
        var modified: timespec { status.st_mtimespec }
        private var changed: timespec { status.st_ctimespec }
    #else
        var modified: timespec { status.st_mtim }
        private var changed: timespec { status.st_ctim }
    #endif
}
