import Foundation
import Nautilus

/// The files of a cache's folder. Nothing here fails: a file that cannot be read counts as missing, and one that cannot
/// be written is not kept.
///
/// The files are spread over 256 folders, by the first byte of the URL's digest, so that the responses to one URL are
/// found without going through all others. A file is named `<URL>.<account>.cache` for the record of the responses, and
/// `<URL>.<account>.<body>.body` for a body; URL and account are given by their digests.
final class CacheDisk: Sendable {
    let path: String
    let maxBytes: Int
    private let queue = BlockingQueue(label: "nautilus.http-cache")
    /// The approximate number of bytes stored; nil before the folder was first measured.
    let bytes = Locked<Int?>(nil)

    init(_ folder: CacheFolder) {
        (path, maxBytes) = (folder.url.absoluteURL.path, folder.maxBytes)
    }

    /// The stored responses; empty when there are none.
    func read(_ target: CacheTarget, _ partition: CachePartition) async -> [StoredResponse] {
        let place = CachePlace(target, partition, in: path)
        return await queue.run { [self] in isUsable(path) ? read(place) : [] }
    }

    /// Replaces the stored responses in the background. If there are no new ones, or no room for them, removes the old
    /// ones, which are outdated.
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

    /// Removes all files of a URL in the background.
    func remove(_ target: CacheTarget) {
        let name = target.digest
        queue.begin { [self] in
            guard isUsable(path) else { return }
            remove(in: CachePlace.folder(of: name, in: path)) { $0.hasPrefix(name + ".") }
        }
    }

    /// Removes all files of a partition in the background.
    func removeAll(of partition: CachePartition) {
        let name = Substring(partition.digest)
        removeAll { $0.split(separator: ".").dropFirst().first == name }
    }

    /// Removes all files outside these partitions in the background.
    func removeAll(except kept: Set<CachePartition>) {
        let names = Set(kept.map { Substring($0.digest) })
        removeAll { name in
            guard let partition = name.split(separator: ".").dropFirst().first else { return false }
            return !names.contains(partition)
        }
    }

    /// Removes all of the cache's files in the background.
    func removeAll() {
        removeAll { _ in true }
    }

    /// Returns once all work begun so far is done.
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
            // The record is damaged, or of another version.
            _ = unlink(place.record)
            return []
        }
        // Mark it as used, so that it is removed last.
        _ = touch(place.record)
        return responses
    }

    private func content(of path: String) throws(SystemFailure) -> Data? {
        let file = try OpenFile(path, O_RDONLY)
        let status = try file.status()
        return status.isRegularFile && status.size <= maxBytes ? try file.read(upTo: maxBytes) : nil
    }

    /// - Returns: Whether all of the responses are on disk.
    private func replace(_ place: CachePlace, with responses: [StoredResponse]) -> Bool {
        guard !responses.isEmpty, let record = try? CacheFile.encode(responses) else { return false }
        let apart = responses.filter(CacheFile.hasBodyFile)
        let size = apart.reduce(record.count) { $0 + $1.body.count + CacheFile.sealSize }
        guard size <= maxBytes, create(path), create(place.folder) else { return false }
        var written = record.count
        for stored in apart {
            let file = place.body(stored.bodyID)
            // The file is already there, and a body never changes.
            if touch(file) { continue }
            guard put(CacheFile.seal(stored.body), at: file) else { return false }
            written += stored.body.count + CacheFile.sealSize
        }
        guard put(record, at: place.record) else { return false }
        count(written)
        return true
    }

    /// Puts a new file in place of the old one. Even if others write the same file, a reader gets either one whole.
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
    /// - Returns: Whether the file exists.
    private func touch(_ path: String) -> Bool { utimes(path, nil) == 0 }

    private func create(_ folder: String) -> Bool {
        if isUsable(folder) { return true }
        let parent = (folder as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        // This user needs full access, whatever the umask takes away.
        if mkdir(folder, 0o700) == 0 { _ = chmod(folder, 0o700) }
        return isUsable(folder)
    }

    /// Whether the path is an existing folder that only this user may enter.
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

/// Measures the folder, and keeps it within its limit.
extension CacheDisk {
    static let recordSuffix = ".cache"
    static let bodySuffix = ".body"
    static let temporarySuffix = ".tmp"

    private struct File {
        let path: String
        let size: Int
        let used: timespec
    }

    /// The folders that may contain files, whether or not they exist.
    var folders: [String] { (0..<256).map { path + "/" + [UInt8($0)].hexadecimal } }

    /// The names of the cache's files in one of its folders.
    func names(in folder: String) -> [String] {
        let suffixes = [Self.recordSuffix, Self.bodySuffix, Self.temporarySuffix]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in suffixes.contains { name.hasSuffix($0) } }
    }

    /// Counts bytes that were written, and makes room when there are too many.
    func count(_ written: Int) {
        let isFull = bytes.withLock { bytes in
            bytes = bytes.map { $0 + written }
            return bytes.map { $0 > maxBytes } ?? true
        }
        // Replaced files count twice, and those of other processes not at all, so only measuring the folder gives the
        // true size.
        if isFull { makeRoom() }
    }

    /// Removes the least recently used files until seven eighths of the limit are in use, and the leftovers of killed
    /// processes.
    ///
    /// A body and the record that names it are used together, and are therefore removed together. A body that no record
    /// names any longer is never used, and so is removed early.
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

    /// A file that takes up room; nil when there is none, or when it was left half written over an hour ago, and is
    /// removed here.
    private func file(_ path: String) -> File? {
        guard let status = try? FileStatus(of: path, followsLinks: false), status.isRegularFile else { return nil }
        if path.hasSuffix(Self.temporarySuffix), status.modified.tv_sec < time(nil) - 3600 {
            _ = unlink(path)
            return nil
        }
        return File(path: path, size: status.size, used: status.modified)
    }
}

/// A folder in which an HTTP cache keeps responses in addition to its memory, so that they survive the process.
///
/// Only this user may enter the folder and read its files; nothing is encrypted. A file's name reveals neither URL nor
/// account. A file that is missing, foreign or damaged counts as not stored, so a cache never fails a call. Several
/// processes may use the same folder, since each file is replaced as a whole.
public struct CacheFolder: Hashable, Sendable {
    /// The folder.
    public let url: URL
    /// The approximate number of bytes that its files may take together.
    public let maxBytes: Int

    /// Describes a folder; nothing is created yet.
    ///
    /// - Parameters:
    ///   - url: Created with mode 0700 when the first response is stored. An existing folder is used only if it belongs
    ///     to this user and is closed to all others. The folder should hold nothing else: on Apple's platforms, use a
    ///     separate folder within the caches folder, which the system may empty.
    ///   - maxBytes: How many bytes its files may take together; the least recently used files are removed first.
    ///     Default: 64 MiB, which no device misses.
    public init(_ url: URL, maxBytes: Int = 64 << 20) {
        self.url = url
        self.maxBytes = max(0, maxBytes)
    }
}
