import Foundation
import Nautilus

/// A folder that only this process's user may enter.
final class StoreFolder: Sendable {
    private let path: String
    /// Remembered, since they are needed before every attempt of every call, and the digest takes longer than reading
    /// the status.
    private let files = Locked<[CredentialKey: StoreFile]>([:])
    private static let maxRememberedFiles = 1_000
    /// The keys that have been locked in this run.
    private let locked = Locked<Set<CredentialKey>>([])

    init(_ url: URL) {
        path = url.absoluteURL.path
    }

    private var place: String { (path as NSString).lastPathComponent }

    /// The names of a key's files.
    func file(of key: CredentialKey) -> StoreFile {
        files.withLock { files in
            if let file = files[key] { return file }
            if files.count >= Self.maxRememberedFiles { files.removeAll() }
            let file = StoreFile(of: key, in: path)
            files[key] = file
            return file
        }
    }

    /// Whether the folder exists.
    ///
    /// - Parameter requiresPrivacy: Whether only this user may enter the folder. Default: true; false for what hides
    ///   nothing and removes something.
    /// - Throws: ``CredentialStoreError/notPrivate(place:)`` when others may enter the folder; in any case when it is
    ///   another user's, where files of this user's would be in the way.
    func exists(requiringPrivacy requiresPrivacy: Bool = true) throws(CredentialStoreError) -> Bool {
        let path = path
        let status = try at(place) { () throws(SystemFailure) in try FileStatus(of: path, followsLinks: true) }
        guard let status else { return false }
        guard status.isFolder else { throw .foreign(place: place) }
        guard status.isPrivate || status.isOwn && !requiresPrivacy else { throw .notPrivate(place: place) }
        return true
    }

    /// Creates the folder and its parents if they are missing.
    func create(requiringPrivacy requiresPrivacy: Bool = true) throws(CredentialStoreError) {
        guard try !exists(requiringPrivacy: requiresPrivacy) else { return }
        let path = path
        try at(place) { () throws(SystemFailure) in
            // This user needs full access, whatever the umask takes away.
            guard try Self.create(path, mode: 0o700) else { return }
            try repeating("chmod") { chmod(path, 0o700) }
            #if canImport(Darwin)
                Self.excludeFromBackups(path)
            #endif
        }
        guard try exists() else { throw SystemFailure("mkdir", code: ENOENT).at(place) }
    }

    /// Returns once the file names in the folder would survive a power failure.
    func synchronize() throws(CredentialStoreError) {
        let path = path
        try at(place) { () throws(SystemFailure) in try Self.synchronize(path) }
    }

    /// Whether a key that has just been locked is locked for the first time in this run, so that an earlier run may
    /// have left files.
    func isFirstLock(of key: CredentialKey) -> Bool {
        locked.withLock { locked in
            // A server has a key for each user; looking for leftovers once more costs little.
            if locked.count >= Self.maxRememberedFiles { locked.removeAll() }
            return locked.insert(key).inserted
        }
    }

    /// Removes the files that killed saves of `file` have left. The caller holds its lock, so nothing is being written.
    ///
    /// - Parameter removesEnds: Whether files whose names name ended sessions are removed as well. Default: false.
    func removeLeftovers(of file: StoreFile, andEnds removesEnds: Bool = false) {
        // This may fail in a read-only folder, where leftovers do no harm.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where file.isTemporary(name) || removesEnds && file.isEnd(name) {
            _ = unlink(path + "/" + name)
        }
    }

    /// - Returns: Whether the folder was created; false when it already existed.
    private static func create(_ path: String, mode: mode_t) throws(SystemFailure) -> Bool {
        let parent = (path as NSString).deletingLastPathComponent
        do {
            try repeating("mkdir") { mkdir(path, mode) }
        } catch {
            if error.code == EEXIST { return false }
            guard error.code == ENOENT, parent != path else { throw error }
            _ = try create(parent, mode: 0o777)
            return try create(path, mode: mode)
        }
        do {
            try synchronize(parent)
        } catch {
            // A process may have permission to write to a folder without permission to read it.
            guard error.code == EACCES || error.code == EPERM else { throw error }
        }
        return true
    }

    private static func synchronize(_ path: String) throws(SystemFailure) {
        do {
            // The folder itself may be a symbolic link; only its files may not.
            let descriptor = try repeating("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            defer { _ = close(descriptor) }
            #if canImport(Darwin)
                // As for files: `fsync` alone leaves the names in the drive's own cache.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            #endif
            try repeating("fsync folder") { fsync(descriptor) }
        } catch {
            // Some file systems do not support this for folders.
            guard error.code == EINVAL || error.code == ENOTSUP else { throw error }
        }
    }
}

extension StoreFolder: Redacted {
    /// The path of the folder.
    var description: String { path }
}
