import Foundation
import Nautilus

/// The files of a cache's folder. Nothing here fails: a file that cannot be read is not there, and one that cannot be
/// written is not kept.
///
/// They lie in 256 folders, by the first byte of the URL's digest, so that the responses of one URL are found without a
/// look at all the others. A file's name is `<URL>.<account>.cache` for the record of the responses, and
/// `<URL>.<account>.<body>.body` for a body, the first two by their digests.
final class CacheDisk: Sendable {
    let path: String
    let maxBytes: Int
    private let queue = BlockingQueue(label: "nautilus.http-cache")
    /// About how many bytes there are; nil before the first look.
    let bytes = Locked<Int?>(nil)

    init(_ folder: CacheFolder) {
        (path, maxBytes) = (folder.url.absoluteURL.path, folder.maxBytes)
    }

    /// The stored responses; empty when there are none.
    func read(_ target: CacheTarget, _ partition: CachePartition) async -> [StoredResponse] {
        let place = CachePlace(target, partition, in: path)
        return await queue.run { [self] in isUsable(path) ? read(place) : [] }
    }

    /// Replaces the stored responses, later; without new ones, or without room for them, removes the old ones, which
    /// are outdated.
    func write(_ responses: [StoredResponse], _ target: CacheTarget, _ partition: CachePartition) {
        let place = CachePlace(target, partition, in: path)
        queue.begin { [self] in
            let outdated = (try? content(of: place.record)).map { CacheFile.bodyFiles(of: $0) } ?? []
            let isKept = replace(place, with: responses)
            if !isKept { _ = unlink(place.record) }
            let new = responses.filter(CacheFile.hasBodyFile).map(\.bodyID)
            for body in isKept ? outdated.filter({ !new.contains($0) }) : outdated + new {
                _ = unlink(place.body(body))
            }
        }
    }

    /// Removes all of a URL, later.
    func remove(_ target: CacheTarget) {
        let name = target.digest
        queue.begin { [self] in
            guard isUsable(path) else { return }
            remove(in: CachePlace.folder(of: name, in: path)) { $0.hasPrefix(name + ".") }
        }
    }

    /// Removes all of a partition, later.
    func removeAll(of partition: CachePartition) {
        let name = Substring(partition.digest)
        removeAll { $0.split(separator: ".").dropFirst().first == name }
    }

    /// Removes all that is not of one of these partitions, later.
    func removeAll(except kept: Set<CachePartition>) {
        let names = Set(kept.map { Substring($0.digest) })
        removeAll { name in
            guard let partition = name.split(separator: ".").dropFirst().first else { return false }
            return !names.contains(partition)
        }
    }

    /// Removes everything that is the cache's, later.
    func removeAll() {
        removeAll { _ in true }
    }

    /// Returns once everything that was begun is done.
    func flush() async {
        await queue.run {}
    }

    private func removeAll(where isRemoved: @escaping @Sendable (String) -> Bool) {
        queue.begin { [self] in
            guard isUsable(path) else { return }
            for folder in folders { remove(in: folder, where: isRemoved) }
        }
    }

    private func remove(in folder: String, where isRemoved: (String) -> Bool) {
        for name in names(in: folder) where isRemoved(name) { _ = unlink(folder + "/" + name) }
    }
}

// MARK: - Files

extension CacheDisk {
    private func read(_ place: CachePlace) -> [StoredResponse] {
        guard let data = try? content(of: place.record) else { return [] }
        let responses = CacheFile.decode(data) { body in
            let file = place.body(body)
            guard let data = try? content(of: file) else { return nil }
            let content = CacheFile.unseal(data)
            if content == nil { _ = unlink(file) } else { _ = touch(file) }
            return content
        }
        guard let responses else {
            // Damaged, or of another version.
            _ = unlink(place.record)
            return []
        }
        // Now it is the last one to go.
        _ = touch(place.record)
        return responses
    }

    private func content(of path: String) throws(SystemFailure) -> Data? {
        let file = try OpenFile(path, O_RDONLY)
        let status = try file.status()
        return status.isRegularFile && status.size <= maxBytes ? try file.read(upTo: maxBytes) : nil
    }

    /// - Returns: Whether they are on the disk, all of them.
    private func replace(_ place: CachePlace, with responses: [StoredResponse]) -> Bool {
        guard !responses.isEmpty, let record = try? CacheFile.encode(responses) else { return false }
        let apart = responses.filter(CacheFile.hasBodyFile)
        let size = apart.reduce(record.count) { $0 + $1.body.count + CacheFile.sealSize }
        guard size <= maxBytes, create(path), create(place.folder) else { return false }
        var written = record.count
        for stored in apart {
            let file = place.body(stored.bodyID)
            // It is there already, and does not change.
            if touch(file) { continue }
            guard put(CacheFile.seal(stored.body), at: file) else { return false }
            written += stored.body.count + CacheFile.sealSize
        }
        guard put(record, at: place.record) else { return false }
        count(written)
        return true
    }

    /// Puts a new file in the place of the old one, even if others write there: a reader gets wholly one or the other.
    private func put(_ data: Data, at path: String) -> Bool {
        let temporary = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 16))\(Self.temporarySuffix)"
        do throws(SystemFailure) {
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try file.setMode(0o600)
            try file.write(data)
            try file.finish()
            try repeating("rename") { rename(temporary, path) }
            return true
        } catch {
            _ = unlink(temporary)
            return false
        }
    }

    /// Marks a file as used now.
    ///
    /// - Returns: Whether it is there.
    private func touch(_ path: String) -> Bool { utimes(path, nil) == 0 }

    private func create(_ folder: String) -> Bool {
        if isUsable(folder) { return true }
        let parent = (folder as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        // Whatever the umask takes away, this user needs all.
        if mkdir(folder, 0o700) == 0 { _ = chmod(folder, 0o700) }
        return isUsable(folder)
    }

    /// Whether it is there, a folder, and this user's alone.
    private func isUsable(_ folder: String) -> Bool {
        guard let status = try? FileStatus(of: folder, followsLinks: true) else { return false }
        return status.isFolder && status.isPrivate
    }
}

/// The place of the responses to one URL for one account.
private struct CachePlace: Sendable {
    let folder: String
    private let name: String

    init(_ target: CacheTarget, _ partition: CachePartition, in path: String) {
        let target = target.digest
        folder = Self.folder(of: target, in: path)
        name = "\(target).\(partition.digest)"
    }

    var record: String { "\(folder)/\(name)\(CacheDisk.recordSuffix)" }
    func body(_ id: String) -> String { "\(folder)/\(name).\(id)\(CacheDisk.bodySuffix)" }

    static func folder(of target: String, in path: String) -> String { "\(path)/\(target.prefix(2))" }
}

/// The size of the folder, and how it stays within its bounds.
extension CacheDisk {
    static let recordSuffix = ".cache"
    static let bodySuffix = ".body"
    static let temporarySuffix = ".tmp"

    private struct File {
        let path: String
        let size: Int
        let used: timespec
    }

    /// The folders that files are in, whether or not they are there.
    var folders: [String] { (0..<256).map { path + "/" + [UInt8($0)].hexadecimal } }

    /// The names of the cache's files in one of its folders.
    func names(in folder: String) -> [String] {
        let suffixes = [Self.recordSuffix, Self.bodySuffix, Self.temporarySuffix]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in suffixes.contains { name.hasSuffix($0) } }
    }

    /// Takes note of bytes that were written, and makes room when there are too many.
    func count(_ written: Int) {
        let isFull = bytes.withLock { bytes in
            bytes = bytes.map { $0 + written }
            return bytes.map { $0 > maxBytes } ?? true
        }
        // Replaced files count twice, and files of other processes not at all: only a look at the folder tells.
        if isFull { makeRoom() }
    }

    /// Removes the files that were not used for longest, down to seven eighths, and those that killed processes have
    /// left.
    ///
    /// A body and the record that names it are used together, so that they go together, but for one that no record
    /// names any longer: it goes as what is never used.
    private func makeRoom() {
        let files = folders.flatMap { folder in names(in: folder).compactMap { file(folder + "/" + $0) } }
        var total = files.reduce(0) { $0 + $1.size }
        if total > maxBytes {
            let byUse = files.sorted { ($0.used.tv_sec, $0.used.tv_nsec) < ($1.used.tv_sec, $1.used.tv_nsec) }
            for file in byUse where total > maxBytes - maxBytes / 8 {
                _ = unlink(file.path)
                total -= file.size
            }
        }
        bytes.withLock { [total] in $0 = total }
    }

    /// A file that takes room; nil for none, and for one left half written an hour ago, which is removed.
    private func file(_ path: String) -> File? {
        guard let status = try? FileStatus(of: path, followsLinks: false), status.isRegularFile else { return nil }
        if path.hasSuffix(Self.temporarySuffix), status.modified.tv_sec < time(nil) - 3600 {
            _ = unlink(path)
            return nil
        }
        return File(path: path, size: status.size, used: status.modified)
    }
}

/// A folder in which an HTTP cache keeps responses beside its memory, so that they survive the process.
///
/// The folder and its files are for this user alone; nothing is encrypted. A file's name shows neither URL nor account.
/// A file that is missing, foreign or damaged counts as not stored: a cache never fails a call. Several processes may
/// use the same folder: each file is replaced as a whole.
public struct CacheFolder: Hashable, Sendable {
    /// The folder.
    public let url: URL
    /// How many bytes its files may have together, about.
    public let maxBytes: Int

    /// Describes a folder; nothing is created yet.
    ///
    /// - Parameters:
    ///   - url: Created when the first response is stored, with mode 0700. One that exists has to belong to this user
    ///     and to be closed to all others, or it is not used. It should hold nothing else: on Apple's platforms, a
    ///     folder of its own within the caches folder, which the system may empty.
    ///   - maxBytes: How many bytes its files may have together; those that were not used for longest go first.
    ///     Default: 64 MiB, which no device misses.
    public init(_ url: URL, maxBytes: Int = 64 << 20) {
        self.url = url
        self.maxBytes = max(0, maxBytes)
    }
}
