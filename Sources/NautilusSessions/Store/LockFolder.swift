import Foundation
import Nautilus

/// One lock for each key, as files in a folder: for all processes of one machine that use the same folder.
///
/// For stores that keep credentials elsewhere, as ``FileStore`` does beside them. The system frees a lock when its
/// holder ends, however it ends. The files stay, and are empty: removing one would let two hold the same lock.
///
/// In a container that an app shares with its extensions, the system ends a process that is suspended while it holds a
/// lock. So hold it within a background task, or an expiring activity.
public struct LockFolder: Sendable {
    private let folder: StoreFolder

    /// Locks in a folder of their own.
    ///
    /// - Parameter folder: Created if missing, for this user alone.
    public init(_ folder: URL) {
        self.init(StoreFolder(folder))
    }

    init(_ folder: StoreFolder) {
        self.folder = folder
    }

    /// Takes the key's lock if it is free, and does not wait.
    ///
    /// - Returns: The lock; nil while another holds it, in this process or in another.
    /// - Throws: ``CredentialStoreError``: the folder is open to others, or cannot be written and has no such file.
    public func lock(_ key: CredentialKey) throws(CredentialStoreError) -> (any CredentialLock)? {
        try folder.create()
        let file = folder.file(of: key)
        return try at(file.lockPlace) { () throws(SystemFailure) in try Self.lock(file.lockPath) }
    }

    private static func lock(_ path: String) throws(SystemFailure) -> FileLock? {
        // A cleaner may remove a file between opening and locking it; then others lock its successor.
        for _ in 1...10 {
            let file = try open(path)
            let status = try file.status()
            guard status.isRegularFile else { throw SystemFailure("open", code: ELOOP) }
            guard try file.lock() else { return nil }
            // A umask may have taken more away than others' access. Where it cannot be given back, the lock is good
            // yet.
            if status.mode != 0o600 { try? file.setMode(0o600) }
            let current = try FileStatus(of: path, followsLinks: false)
            if current?.isSameFile(as: status) == true { return FileLock(file) }
        }
        throw SystemFailure("flock", code: EAGAIN)
    }

    private static func open(_ path: String) throws(SystemFailure) -> OpenFile {
        do {
            // For writing, since over some network file systems only such a file can be locked.
            return try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
        } catch {
            guard [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
            // A folder that may only be read can still be shared.
            guard let file = try? OpenFile(path, O_RDONLY) else { throw error }
            return file
        }
    }
}

/// A locked file. The system gives the lock back when the process ends, however it ends.
final class FileLock: CredentialLock {
    private let descriptor: Locked<Int32?>

    /// Keeps the lock that `file` has.
    init(_ file: consuming OpenFile) {
        descriptor = Locked(file.release())
    }

    deinit { unlock() }

    func unlock() {
        let descriptor = self.descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let descriptor else { return }
        // Closing is enough unless a child was forked meanwhile, which shares the open file until it executes another.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }
}
