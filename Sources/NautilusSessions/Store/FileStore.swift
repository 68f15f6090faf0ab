import Foundation
import Nautilus

/// Keeps credentials in a folder, one file each, for all processes of one machine that use the same folder.
///
/// The folder and its files are for this user alone; for encryption, wrap the store in an ``EncryptedStore``. A save
/// writes a new file beside the old one and puts it in its place once it would survive a power failure, so that a
/// process which is killed, or a disk which is full, leaves the old one. Keep the folder on a local disk: a network file
/// system that is away stops the threads that ask for it, and its locks may not count for other machines. Keep it where
/// nobody cleans up: a record that has gone is a sign-out, since on a full disk its removal is the only way to tell one.
///
/// On Apple's platforms, prefer `KeychainStore`, whose items never leave the device; files are readable there from the first
/// unlock after a restart, and a folder that the store has created is kept out of backups.
///
/// ```swift
/// let store = FileStore(folder: URL(fileURLWithPath: "/var/lib/notes/credentials"))
/// ```
/// A record that is foreign or of a newer format is neither replaced nor removed; a damaged one is.
public final class FileStore: CredentialStore {
    private let folder: StoreFolder
    private let locks: LockFolder
    private let queue = BlockingQueue(label: "nautilus.file-store")

    /// Keeps credentials in `folder`.
    ///
    /// - Parameter folder: Created at the first save or lock if missing, with mode 0700. One that exists has to belong
    ///   to this user, and to be closed to all others.
    public init(folder: URL) {
        self.folder = StoreFolder(folder)
        locks = LockFolder(self.folder)
    }

    /// Loads the stored record; nil when there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func load(_ key: CredentialKey) async throws(CredentialStoreError) -> StoredCredential? {
        try await queue.run { [self] () throws(CredentialStoreError) in try promptLoad(key) }
    }

    /// The same, on the caller's thread.
    func promptLoad(_ key: CredentialKey) throws(CredentialStoreError) -> StoredCredential? {
        let file = folder.file(of: key)
        guard try folder.exists() else { return nil }
        while let content = try file.read() {
            let stored = try CredentialFormat.decode(content.data, for: key, place: file.place)
            if try file.isEnded(stored.session) { return nil }
            // A delete that came in between has removed the note of an end with the file.
            if try file.status()?.version == content.status.version { return stored }
        }
        return nil
    }

    /// Replaces what is stored, and returns once it would survive a power failure.
    ///
    /// - Throws: ``CredentialStoreError``. What was stored before is still there then, with one exception: if only the
    ///   folder cannot be synchronised, the new one is there, and a power failure may bring back the old one.
    public func save(_ stored: StoredCredential, for key: CredentialKey) async throws(CredentialStoreError) {
        let (folder, file) = (folder, folder.file(of: key))
        try await queue.run { () throws(CredentialStoreError) in
            let data = try CredentialFormat.encode(stored, for: key, place: file.place)
            try folder.create()
            let previous = try Self.replaceable(file, of: key)
            // Where the sessions that have ended cannot be asked for, no record is shown.
            _ = try file.isEnded(stored.session)
            try file.replace(with: data, after: previous?.modified)
            try folder.synchronize()
        }
    }

    /// Ends a session, by a line with its name in a file beside the record, and returns once that would survive a power
    /// failure. That file is part of the ``version(of:)``, so whoever shares the folder knows at the same time that there
    /// is something new and what it is, though this process may be killed at any moment.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
    /// - Throws: ``CredentialStoreError``.
    @discardableResult
    public func end(
        _ session: UUID,
        for key: CredentialKey
    ) async throws(CredentialStoreError) -> StoredCredential? {
        let (folder, file) = (folder, folder.file(of: key))
        return try await queue.run { () throws(CredentialStoreError) in
            try folder.create()
            try file.noteEnd(of: session)
            try folder.synchronize()
            guard let content = try? file.read() else { return nil }
            let stored = try? CredentialFormat.decode(content.data, for: key, place: file.place)
            return stored?.session == session ? stored : nil
        }
    }

    /// Whether a line of that file names the session.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws(CredentialStoreError) -> Bool {
        let file = folder.file(of: key)
        return try await queue.run { () throws(CredentialStoreError) in try file.isEnded(session) }
    }

    /// Removes what is stored, with what killed saves have left of it, and the notes of which sessions have been ended;
    /// nothing when nothing is.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func delete(_ key: CredentialKey) async throws(CredentialStoreError) {
        let (folder, file) = (folder, folder.file(of: key))
        try await queue.run { () throws(CredentialStoreError) in
            guard try folder.exists() else { return }
            if try Self.replaceable(file, of: key) != nil {
                try file.remove()
                try folder.synchronize()
            }
            folder.removeLeftovers(of: file)
            file.removeEnds()
        }
    }

    /// A mark made of the file's number, times and size, and of how many sessions have been ended: two questions to the
    /// system, which are asked on the caller's thread. That takes less time than a change of threads, and on the store's
    /// queue every call would wait for a save to reach the disk.
    ///
    /// - Returns: Nil when nothing is stored.
    /// - Throws: ``CredentialStoreError``.
    public func version(of key: CredentialKey) throws(CredentialStoreError) -> CredentialVersion? {
        let file = folder.file(of: key)
        guard let status = try file.status() else { return nil }
        return status.version.with(try file.endsStatus().map { "ended \($0.size)" })
    }

    /// Takes the key's lock if it is free, and does not wait. With the first lock of a key, the files that killed saves
    /// have left are removed: once, since the folder is listed for it; files that others leave later are removed by
    /// their next run.
    ///
    /// - Returns: The lock; nil while another holds it, in this process or in another.
    /// - Throws: ``CredentialStoreError``.
    public func lock(_ key: CredentialKey) async throws(CredentialStoreError) -> (any CredentialLock)? {
        guard let lock = try locks.lock(key) else { return nil }
        guard folder.isFirstLock(of: key) else { return lock }
        let (folder, file) = (folder, folder.file(of: key))
        try await queue.run { () throws(CredentialStoreError) in folder.removeLeftovers(of: file) }
        return lock
    }

    /// The file that a save or delete may replace: a credential of this key, damaged or not; nil when nothing is
    /// stored.
    private static func replaceable(
        _ file: StoreFile,
        of key: CredentialKey
    ) throws(CredentialStoreError) -> FileStatus? {
        do {
            guard let content = try file.read() else { return nil }
            _ = try CredentialFormat.decode(content.data, for: key, place: file.place)
            return content.status
        } catch .damaged {
            return try file.status()
        }
    }
}

extension FileStatus {
    /// Another one after each save: the file is a new one, and dated later than the one before.
    var version: CredentialVersion {
        let (inode, modified, changed) = (inode, modified, changed)
        return CredentialVersion(
            "\(inode) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec) \(size)"
        )
    }
}

extension SystemFailure {
    /// The store error that it means at `place`.
    func at(_ place: String) -> CredentialStoreError {
        switch code {
        case ENOSPC, EDQUOT: .full(place: place)
        case EACCES, EPERM, EROFS: .notPermitted(place: place)
        // A symbolic link where a file of ours would be.
        case ELOOP: .foreign(place: place)
        default: .system(operation: operation, place: place, code: Int(code))
        }
    }
}

/// Runs `work`, and adds `place` to its failures.
func at<Result>(
    _ place: String,
    _ work: () throws(SystemFailure) -> Result
) throws(CredentialStoreError) -> Result {
    do {
        return try work()
    } catch {
        throw error.at(place)
    }
}
