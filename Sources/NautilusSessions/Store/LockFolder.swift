import Foundation
import Nautilus

/// One lock for each key, as files in a folder: for all processes of one machine that use the same folder.
///
/// For stores that keep credentials elsewhere, as ``FileStore`` does beside them. The system frees a lock when its
/// holder ends, however it ends. The files stay, and are empty: removing one would let two hold the same lock.
///
/// iOS and its like end a process that is suspended while it holds a lock in a container which an app shares with its
/// extensions (exception code 0xdead10cc). So a lock is held there within an expiring activity of `ProcessInfo`: the system
/// suspends the process later, and a lock that is still held when the time is up is given back. Then, and when somebody has
/// removed its file, ``CredentialLock/isHeld`` is false.
public struct LockFolder: Sendable {
    private let folder: StoreFolder
    private let activity: ExpiringActivity?

    /// Locks in a folder of their own.
    ///
    /// - Parameter folder: Created if missing, for this user alone.
    public init(_ folder: URL) {
        self.init(StoreFolder(folder))
    }

    init(_ folder: StoreFolder, within activity: ExpiringActivity? = .system) {
        (self.folder, self.activity) = (folder, activity)
    }

    /// Takes the key's lock if it is free, and does not wait.
    ///
    /// - Returns: The lock; nil while another holds it, in this process or in another.
    /// - Throws: ``CredentialStoreError``: the folder is open to others, or cannot be written and has no such file.
    public func lock(_ key: CredentialKey) throws(CredentialStoreError) -> (any CredentialLock)? {
        try folder.create()
        let file = folder.file(of: key)
        return try at(file.lockPlace) { () throws(SystemFailure) in try lock(file.lockPath) }
    }

    private func lock(_ path: String) throws(SystemFailure) -> FileLock? {
        // A cleaner may remove a file between opening and locking it; then others lock its successor.
        for _ in 1...10 {
            let file = try Self.open(path)
            let status = try file.status()
            guard status.isRegularFile else { throw SystemFailure("open", code: ELOOP) }
            guard try file.lock() else { return nil }
            // A umask may have taken more away than others' access. Where it cannot be given back, the lock is good
            // yet.
            if status.mode != 0o600 { try? file.setMode(0o600) }
            let current = try FileStatus(of: path, followsLinks: false)
            if current?.isSameFile(as: status) == true { return FileLock(file, at: path, within: activity) }
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
    private let path: String
    private let end = DispatchSemaphore(value: 0)

    /// Keeps the lock that `file` has.
    ///
    /// - Parameters:
    ///   - file: The file, locked.
    ///   - path: Where others look for it.
    ///   - activity: The lock is held within it, and given back when its time is up; nil for no such limit.
    init(_ file: consuming OpenFile, at path: String, within activity: ExpiringActivity?) {
        descriptor = Locked(file.release())
        self.path = path
        activity?.perform { [weak self, end] hasExpired in
            if hasExpired { self?.unlock() } else { end.wait() }
        }
    }

    deinit { unlock() }

    /// Whether it is locked, and its file is still the one that others lock.
    var isHeld: Bool {
        descriptor.withLock { descriptor in
            var status = stat()
            guard let descriptor, fstat(descriptor, &status) == 0 else { return false }
            return (try? FileStatus(of: path, followsLinks: false))?.isSameFile(as: FileStatus(status)) ?? false
        }
    }

    func unlock() {
        let descriptor = self.descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let descriptor else { return }
        // Closing is enough unless a child was forked meanwhile, which shares the open file until it executes another.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
        end.signal()
    }
}

/// An activity during which the system does not suspend the process, for as long as it gives it time.
struct ExpiringActivity: Sendable {
    /// Runs the block, on another thread, with false: the activity lasts until it returns. When the time is up, runs it
    /// once more with true; that alone when no time is given at all.
    let perform: @Sendable (_ block: @escaping @Sendable (_ hasExpired: Bool) -> Void) -> Void

    /// The system's; nil on platforms that suspend no process, or where it may hold a lock meanwhile.
    static var system: ExpiringActivity? {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            ExpiringActivity {
                ProcessInfo.processInfo.performExpiringActivity(withReason: "A credential is being renewed", using: $0)
            }
        #else
            nil
        #endif
    }
}
