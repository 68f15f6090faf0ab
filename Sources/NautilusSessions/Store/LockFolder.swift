import Foundation
import Nautilus

/// One lock for each key, as files in a folder, for all processes of one machine that use the same folder.
///
/// For stores that keep credentials elsewhere; ``FileStore`` keeps its locks beside the credentials. The system frees a
/// lock when its holder ends, however it ends. The files are empty and are never removed, since removing one would let
/// two processes hold the same lock.
///
/// iOS and its relatives kill a process that is suspended while it holds a lock in a container which an app shares with
/// its extensions (exception code 0xdead10cc). There, a lock is therefore held within an expiring activity of
/// `ProcessInfo`: it delays the suspension, and a lock that is still held when the time is up is given back.
/// ``CredentialLock/isHeld`` is false then, and when somebody has removed the lock's file.
public struct LockFolder: Sendable {
    private let folder: StoreFolder
    private let activity: ExpiringActivity?
    private let requiresPrivacy: Bool

    /// Keeps locks in a separate folder.
    ///
    /// - Parameter folder: Created if missing, for this user alone.
    public init(_ folder: URL) {
        self.init(StoreFolder(folder))
    }

    /// - Parameter requiresPrivacy: Whether a folder that is open to others is refused. Default: true.
    init(
        _ folder: StoreFolder,
        within activity: ExpiringActivity? = .system,
        requiringPrivacy requiresPrivacy: Bool = true
    ) {
        (self.folder, self.activity, self.requiresPrivacy) = (folder, activity, requiresPrivacy)
    }

    /// Takes the key's lock if it is free, and does not wait.
    ///
    /// - Returns: The lock; nil while another holder has it, in this process or in another.
    /// - Throws: ``CredentialStoreError``, when the folder is open to others, or is not writable and lacks the lock's
    ///   file.
    public func lock(_ key: CredentialKey) throws(CredentialStoreError) -> (any CredentialLock)? {
        try folder.create(requiringPrivacy: requiresPrivacy)
        let file = folder.file(of: key)
        return try at(file.lockPlace) { () throws(SystemFailure) in try lock(file.lockPath) }
    }

    private func lock(_ path: String) throws(SystemFailure) -> FileLock? {
        // Somebody may remove the file between its opening and its locking; others then lock its successor.
        for _ in 1...10 {
            let file = try Self.open(path)
            let status = try file.status()
            guard status.isRegularFile else { throw SystemFailure("open", code: ELOOP) }
            guard try file.lock() else { return nil }
            // The umask may have taken away this user's access, too. If the mode cannot be restored, the lock still
            // works.
            if status.mode != 0o600 { try? file.setMode(0o600) }
            let current = try FileStatus(of: path, followsLinks: false)
            if current?.isSameFile(as: status) == true { return FileLock(file, at: path, within: activity) }
        }
        throw SystemFailure("flock", code: EAGAIN)
    }

    private static func open(_ path: String) throws(SystemFailure) -> OpenFile {
        do {
            // Open for writing, since some network file systems can lock only such a file.
            return try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
        } catch {
            guard [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
            // A folder that is only readable can still be shared.
            guard let file = try? OpenFile(path, O_RDONLY) else { throw error }
            return file
        }
    }
}

/// A locked file. The system releases the lock when the process ends, however it ends.
final class FileLock: CredentialLock {
    private let descriptor: Locked<Int32?>
    private let path: String
    private let end = DispatchSemaphore(value: 0)

    /// Takes over the lock that `file` has.
    ///
    /// - Parameters:
    ///   - file: The locked file.
    ///   - path: The path where others look for the file.
    ///   - activity: The lock is held within it, and given back when its time is up. Nil for no such limit.
    init(_ file: consuming OpenFile, at path: String, within activity: ExpiringActivity?) {
        descriptor = Locked(file.release())
        self.path = path
        activity?.perform { [weak self, end] hasExpired in
            if hasExpired { self?.unlock() } else { end.wait() }
        }
    }

    deinit { unlock() }

    /// Whether the file is locked, and is still the one that others lock.
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
        // Closing is enough unless a child was forked meanwhile: it shares the open file until it executes another
        // program.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
        end.signal()
    }
}

/// An activity during which the system does not suspend the process, as long as it grants it time.
struct ExpiringActivity: Sendable {
    /// Runs the block with false on another thread; the activity lasts until the block returns. When the time is up,
    /// runs the block once more with true; if no time is granted at all, only with true.
    let perform: @Sendable (_ block: @escaping @Sendable (_ hasExpired: Bool) -> Void) -> Void

    /// The system's activity; nil on platforms that do not suspend processes, or allow them to hold a lock while
    /// suspended.
    static var system: ExpiringActivity? {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            ExpiringActivity {
                ProcessInfo.processInfo.performExpiringActivity(
                    withReason: "A credential is being refreshed",
                    using: $0
                )
            }
        #else
            nil
        #endif
    }
}
