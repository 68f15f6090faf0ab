import Foundation
import Nautilus

/// The names of one key's files. They reveal neither account nor issuer, and stay within the folder whatever the key
/// contains.
struct StoreFile: Sendable {
    /// The file of the credential, and its name in errors.
    let path: String
    let place: String
    /// The file that is locked, and its name in errors.
    let lockPath: String
    let lockPlace: String

    private let folder: String
    private let stem: String

    init(of key: CredentialKey, in folder: String) {
        self.folder = folder
        stem = Sha256.hash(Self.identity(of: key)).hexadecimal
        place = stem + ".json"
        path = folder + "/" + place
        lockPlace = stem + ".lock"
        lockPath = folder + "/" + lockPlace
    }

    /// A name for the next save that is unlikely to be taken.
    func temporaryPath() -> String {
        "\(folder)/\(stem).\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).tmp"
    }

    /// The file that names the ended sessions, and its name in errors.
    private var endsPath: String { "\(folder)/\(endsPlace)" }
    private var endsPlace: String { "\(stem).ended" }

    /// An empty file whose name names an ended session, for a disk that has no room for a line.
    private func endPath(of session: UUID) -> String { "\(folder)/\(stem).\(session.uuidString).ended" }

    /// Whether a file of this name names an ended session.
    func isEnd(_ name: String) -> Bool {
        name.hasPrefix(stem + ".") && name.hasSuffix(".ended") && name != endsPlace
    }

    /// Whether a file of this name was left by a save that was killed.
    func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(stem + ".") && name.hasSuffix(".tmp")
    }

    /// The key as bytes. Different keys give different bytes, since each part is preceded by its length. Equal texts
    /// have equal bytes only in composed form.
    private static func identity(of key: CredentialKey) -> [UInt8] {
        [key.issuer, key.client, key.account].flatMap { part in
            let bytes = Array(part.precomposedStringWithCanonicalMapping.utf8)
            return Array("\(bytes.count):".utf8) + bytes
        }
    }
}

extension StoreFile {
    /// The status of the credential's file; nil when there is none.
    func status() throws(CredentialStoreError) -> FileStatus? {
        try at(place) { () throws(SystemFailure) in try FileStatus(of: path, followsLinks: false) }
    }

    /// The file's bytes; nil when there is none. Reads just enough of an oversized file for the format to refuse it.
    ///
    /// - Throws: ``CredentialStoreError/foreign(place:)`` for anything but a regular file.
    func read() throws(CredentialStoreError) -> (data: Data, status: FileStatus)? {
        let content: (data: Data, status: FileStatus)?
        do throws(SystemFailure) {
            let file = try OpenFile(path, O_RDONLY)
            let status = try file.status()
            content = status.isRegularFile ? (try file.read(upTo: CredentialFormat.maxSize + 1), status) : nil
        } catch {
            if error.code == ENOENT { return nil }
            throw error.at(place)
        }
        guard let content else { throw .foreign(place: place) }
        return content
    }

    /// Puts a new file with `data` in the place of the old one, wholly or not at all.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - previous: When the old file was changed; the new one is dated later, even if the clock was set back.
    func replace(with data: Data, after previous: timespec?) throws(CredentialStoreError) {
        try at(place) { () throws(SystemFailure) in
            let temporary = temporaryPath()
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            do throws(SystemFailure) {
                try file.setMode(0o600)
                #if canImport(Darwin)
                    // Protect the file while it is still empty.
                    Self.protect(temporary)
                #endif
                try file.write(data)
                try file.setModified(.now(after: previous))
                try file.synchronize()
                try file.finish()
                try repeating("rename") { rename(temporary, path) }
            } catch {
                _ = unlink(temporary)
                throw error
            }
        }
    }

    /// The status of the file that names ended sessions; nil when there is none.
    func endsStatus() throws(CredentialStoreError) -> FileStatus? {
        let path = endsPath
        return try at(endsPlace) { () throws(SystemFailure) in try FileStatus(of: path, followsLinks: false) }
    }

    /// Whether a session has been ended.
    ///
    /// - Throws: ``CredentialStoreError/foreign(place:)`` for anything but a regular file.
    func isEnded(_ session: UUID) throws(CredentialStoreError) -> Bool {
        let path = endsPath
        return try withEnds { () throws(SystemFailure) in
            do throws(SystemFailure) {
                let file = try OpenFile(path, O_RDONLY)
                guard try file.status().isRegularFile else { return nil }
                if Self.names(session, in: try file.read(upTo: .max)) { return true }
                return try FileStatus(of: endPath(of: session), followsLinks: false) != nil
            } catch {
                guard error.code == ENOENT else { throw error }
                return false
            }
        }
    }

    /// Notes at the end of a file that a session has been ended. Nothing is replaced, so no lock is needed. A line that
    /// breaks off names no session, yet the next line is still found.
    ///
    /// - Parameter isDurable: Whether the note survives a power failure once this returns. Default: true.
    /// - Throws: ``CredentialStoreError/foreign(place:)`` for anything but a regular file.
    func noteEnd(of session: UUID, isDurable: Bool = true) throws(CredentialStoreError) {
        let path = endsPath
        try withEnds { () throws(SystemFailure) -> Void? in
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard try file.status().isRegularFile else { return nil }
            // This user needs access, whatever the umask has taken away.
            try file.setMode(0o600)
            let content = try file.read(upTo: .max)
            // The same end may be noted again and again until the record is removed as well.
            if !Self.names(session, in: content) { try note(session, in: file) }
            if isDurable { try file.synchronize() }
            try file.finish()
        }
    }

    private func note(_ session: UUID, in file: borrowing OpenFile) throws(SystemFailure) {
        do throws(SystemFailure) {
            try file.write(Data("\(session.uuidString)\n".utf8))
        } catch {
            guard error.code == ENOSPC || error.code == EDQUOT else { throw error }
            // A full disk usually still takes a file without content.
            try OpenFile(endPath(of: session), O_WRONLY | O_CREAT, mode: 0o600).finish()
            // Part of the version that the other processes look at.
            try file.setModified(.now(after: try file.status().modified))
        }
    }

    /// Works with the file that names ended sessions; `work` returns nil when it is not a regular file.
    private func withEnds<Value>(
        _ work: () throws(SystemFailure) -> Value?
    ) throws(CredentialStoreError) -> Value {
        do throws(SystemFailure) {
            if let value = try work() { return value }
        } catch {
            // A folder was opened for writing.
            if error.code != EISDIR { throw error.at(endsPlace) }
        }
        throw .foreign(place: endsPlace)
    }

    /// Removes the file that names ended sessions, once nothing of them is stored any more. The caller holds the lock,
    /// so no save is about to begin.
    func removeEnds() {
        // A file that stays does no harm: its sessions never come back.
        _ = unlink(endsPath)
    }

    private static func names(_ session: UUID, in content: Data) -> Bool {
        content.range(of: Data(session.uuidString.utf8)) != nil
    }

    /// Removes the file; does nothing when there is none.
    func remove() throws(CredentialStoreError) {
        do {
            try repeating("unlink") { unlink(path) }
        } catch {
            guard error.code != ENOENT else { return }
            throw error.at(place)
        }
    }
}

extension timespec {
    /// The current time, or just after `previous` if that is later. The system dates files in ticks of milliseconds,
    /// and within one tick a file's number can be reused.
    fileprivate static func now(after previous: timespec?) -> timespec {
        var now = timespec()
        _ = clock_gettime(CLOCK_REALTIME, &now)
        guard let previous, (now.tv_sec, now.tv_nsec) <= (previous.tv_sec, previous.tv_nsec) else { return now }
        guard previous.tv_nsec < 999_999_999 else { return timespec(tv_sec: previous.tv_sec + 1, tv_nsec: 0) }
        return timespec(tv_sec: previous.tv_sec, tv_nsec: previous.tv_nsec + 1)
    }
}
