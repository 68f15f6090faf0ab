import Foundation
import Nautilus

/// Keeps credentials in a folder, one file each, for all processes of one machine that use the same folder.
///
/// ```swift
/// let store = FileStore(folder: URL(fileURLWithPath: "/var/lib/notes/credentials"))
/// ```
/// Only this user may enter the folder and read its files; for encryption, wrap the store in an ``EncryptedStore``. If
/// a save fails, or its process is killed, the old file stays. A foreign record, or one of a newer format, is neither
/// replaced nor removed; a damaged one is. On Apple's platforms, prefer `KeychainStore`.
///
/// Keep the folder on a local disk: a network file system that is out of reach blocks threads, and its locks may not
/// hold between machines. Keep it where nobody cleans up: a missing record counts as a sign-out.
public final class FileStore: CredentialStore {
    private let folder: StoreFolder
    private let locks: LockFolder
    /// For what reads and writes records, one after the other.
    let records = BlockingQueue(label: "nautilus.file-store")
    /// For the notes of ended sessions, which replace nothing and need no order with the records: a save that hangs
    /// must not keep a sign-out from being noted.
    private let ends = BlockingQueue(label: "nautilus.file-store.ends")

    /// Keeps credentials in `folder`.
    ///
    /// - Parameter folder: Created with mode 0700 at the first save or lock if it is missing. An existing folder has to
    ///   belong to this user, and to be closed to all others.
    public init(folder: URL) {
        self.folder = StoreFolder(folder)
        // A sign-out takes the lock even where nothing may be saved any more.
        locks = LockFolder(self.folder, requiringPrivacy: false)
    }

    /// True.
    public var showsLatest: Bool { true }

    /// Loads the stored record; nil when there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func load(_ key: CredentialKey) async throws(CredentialStoreError) -> StoredCredential? {
        try await records.run { [self] () throws(CredentialStoreError) in
            try promptLoad(key, requiringPrivacy: true)
        }
    }

    /// The same, on the caller's thread.
    func promptLoad(
        _ key: CredentialKey,
        requiringPrivacy requiresPrivacy: Bool
    ) throws(CredentialStoreError) -> StoredCredential? {
        let file = folder.file(of: key)
        guard try folder.exists(requiringPrivacy: requiresPrivacy) else { return nil }
        while let content = try file.read() {
            let stored = try CredentialFormat.decode(content.data, for: key, place: file.place)
            if try file.isEnded(stored.session) { return nil }
            // A delete in between has removed the note of the session's end along with the file.
            if try file.status()?.version == content.status.version { return stored }
        }
        return nil
    }

    /// Replaces what is stored, and returns once it would survive a power failure.
    ///
    /// - Throws: ``CredentialStoreError``. The previous record is still there then, except after
    ///   ``CredentialStoreError/notDurable(place:)``: only the folder could not be synchronised.
    public func save(_ stored: StoredCredential, for key: CredentialKey) async throws(CredentialStoreError) {
        let (folder, file) = (folder, folder.file(of: key))
        try await records.run { () throws(CredentialStoreError) in
            let data = try CredentialFormat.encode(stored, for: key, place: file.place)
            try folder.create()
            let previous = try Self.replaceable(file, of: key)
            // Fail now if the ended sessions cannot be read, since no record would be shown then.
            _ = try file.isEnded(stored.session)
            try file.replace(with: data, after: previous?.modified)
            do throws(CredentialStoreError) {
                try folder.synchronize()
            } catch {
                throw .notDurable(place: file.place)
            }
        }
    }

    /// Ends a session by adding a line with its name to a file beside the record, and returns once that would survive a
    /// power failure. That file is part of the ``version(of:)``, so every process that shares the folder learns of the
    /// end in the same moment, even if this process is killed right after.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
    /// - Throws: ``CredentialStoreError``.
    @discardableResult
    public func end(
        _ session: UUID,
        for key: CredentialKey
    ) async throws(CredentialStoreError) -> StoredCredential? {
        let (folder, file) = (folder, folder.file(of: key))
        return try await ends.run { () throws(CredentialStoreError) in
            // Also in a folder that is open to others, which must not keep a user signed in.
            try folder.create(requiringPrivacy: false)
            try file.noteEnd(of: session)
            try folder.synchronize()
            guard let content = try? file.read() else { return nil }
            let stored = try? CredentialFormat.decode(content.data, for: key, place: file.place)
            return stored?.session == session ? stored : nil
        }
    }

    /// Notes the end of a session on the caller's thread, without waiting for the disk.
    func promptEnd(_ session: UUID, for key: CredentialKey) throws(CredentialStoreError) {
        guard try folder.exists(requiringPrivacy: false) else { return }
        try folder.file(of: key).noteEnd(of: session, isDurable: false)
    }

    /// Whether the file of ended sessions names the session.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws(CredentialStoreError) -> Bool {
        let file = file(of: key)
        return try await ends.run { () throws(CredentialStoreError) in try file.isEnded(session) }
    }

    /// The files of a key.
    func file(of key: CredentialKey) -> StoreFile { folder.file(of: key) }

    /// Removes what is stored, the leftovers of killed saves, and the notes of ended sessions; does nothing when
    /// nothing is stored.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func delete(_ key: CredentialKey) async throws(CredentialStoreError) {
        let (folder, file) = (folder, folder.file(of: key))
        try await records.run { () throws(CredentialStoreError) in
            // Here as well: what others may read should go.
            guard try folder.exists(requiringPrivacy: false) else { return }
            if try Self.isRemovable(file, of: key) {
                try file.remove()
                try folder.synchronize()
            }
            folder.removeLeftovers(of: file, andEnds: true)
            file.removeEnds()
        }
    }

    /// A mark made of the file's number, times and size, and of size and time of the file that names ended sessions. It
    /// takes two system calls, on the caller's thread: they take less time than a change of threads, and on the store's
    /// queue every call would wait for a save to reach the disk.
    ///
    /// - Returns: Nil when nothing is stored.
    /// - Throws: ``CredentialStoreError``.
    public func version(of key: CredentialKey) throws(CredentialStoreError) -> CredentialVersion? {
        let file = folder.file(of: key)
        guard let status = try file.status() else { return nil }
        return status.version.with(
            try file.endsStatus().map { "ended \($0.size) \($0.modified.tv_sec) \($0.modified.tv_nsec)" }
        )
    }

    /// Takes the key's lock if it is free, and does not wait. The first lock of a key also removes the files that
    /// killed saves have left. This happens only once per run, since it lists the whole folder; files left later are
    /// removed by the next run of their process.
    ///
    /// - Returns: The lock; nil while another holder has it, in this process or in another.
    /// - Throws: ``CredentialStoreError``.
    public func lock(_ key: CredentialKey) async throws(CredentialStoreError) -> (any CredentialLock)? {
        guard let lock = try locks.lock(key) else { return nil }
        guard folder.isFirstLock(of: key) else { return lock }
        let (folder, file) = (folder, folder.file(of: key))
        try await records.run { () throws(CredentialStoreError) in folder.removeLeftovers(of: file) }
        return lock
    }

    /// Whether a delete may remove the file: a credential of this key, damaged or not, or one that cannot be read.
    private static func isRemovable(_ file: StoreFile, of key: CredentialKey) throws(CredentialStoreError) -> Bool {
        do {
            return try replaceable(file, of: key) != nil
        } catch .notPermitted {
            return try file.status()?.isRegularFile ?? false
        }
    }

    /// The status of the file that a save or delete may replace: a credential of this key, damaged or not; nil when
    /// nothing is stored.
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
    /// A version that changes with each save: the file is a new one, and dated later than the one before.
    var version: CredentialVersion {
        let (inode, modified, changed) = (inode, modified, changed)
        return CredentialVersion(
            "\(inode) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec) \(size)"
        )
    }
}

extension SystemFailure {
    /// The store error that this failure means at `place`.
    func at(_ place: String) -> CredentialStoreError {
        switch code {
        case ENOSPC, EDQUOT: .full(place: place)
        case EACCES, EPERM, EROFS: .notPermitted(place: place)
        // A symbolic link where one of our files would be.
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
