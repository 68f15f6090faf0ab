import Foundation

/// The files of a cache's folder. Nothing here fails: what cannot be read is not there, and what cannot be written is
/// not kept.
final class CacheDisk: Sendable {
    private let path: String
    private let maxBytes: Int
    private let queue = BlockingQueue(label: "nautilus.http-cache")
    /// About how many bytes there are; nil before anybody has looked.
    private let bytes = Locked<Int?>(nil)

    init(_ folder: CacheFolder) {
        (path, maxBytes) = (folder.url.absoluteURL.path, folder.maxBytes)
    }

    /// What is stored; empty when nothing is.
    func read(_ target: CacheTarget, _ partition: CachePartition) async -> [StoredResponse] {
        let file = file(target, partition)
        return await queue.run { [self] in isUsable ? read(file) : [] }
    }

    /// Replaces what is stored, later; with nothing, or with what there is no room for, removes it: what was there before
    /// is outdated.
    func write(_ responses: [StoredResponse], _ target: CacheTarget, _ partition: CachePartition) {
        let file = file(target, partition)
        queue.begin { [self] in
            guard !responses.isEmpty, let data = try? CacheFile.encode(responses), data.count <= maxBytes,
                createFolder()
            else { return _ = unlink(file) }
            replace(file, with: data)
            count(data.count)
        }
    }

    /// Removes all of a URL, later.
    func remove(_ target: CacheTarget) {
        let prefix = target.digest + "."
        removeAll { $0.hasPrefix(prefix) }
    }

    /// Removes all of a partition, later.
    func removeAll(of partition: CachePartition) {
        let suffix = "." + partition.digest + Self.suffix
        removeAll { Self.finalName(of: $0).hasSuffix(suffix) }
    }

    /// Removes everything that is the cache's, later.
    func removeAll() {
        removeAll { Self.finalName(of: $0).hasSuffix(Self.suffix) }
    }

    /// Returns once everything that was begun is done.
    func flush() async {
        await queue.run {}
    }

    private static let suffix = ".cache"

    private func file(_ target: CacheTarget, _ partition: CachePartition) -> String {
        "\(path)/\(target.digest).\(partition.digest)\(Self.suffix)"
    }

    /// Whether it is there, a folder, and this user's alone.
    private var isUsable: Bool {
        guard let status = try? FileStatus(of: path, followsLinks: true) else { return false }
        return status.isFolder && status.isPrivate
    }

    private func createFolder() -> Bool {
        if isUsable { return true }
        let parent = (path as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        // Whatever the umask takes away, this user needs all.
        if mkdir(path, 0o700) == 0 { _ = chmod(path, 0o700) }
        return isUsable
    }

    private func read(_ file: String) -> [StoredResponse] {
        guard let data = try? content(of: file) else { return [] }
        guard let responses = CacheFile.decode(data) else {
            // Damaged, or of another version.
            _ = unlink(file)
            return []
        }
        // Now it is the last one to go.
        _ = utimes(file, nil)
        return responses
    }

    private func content(of path: String) throws(SystemFailure) -> Data? {
        let file = try OpenFile(path, O_RDONLY)
        let status = try file.status()
        return status.isRegularFile && status.size <= maxBytes ? try file.read(upTo: maxBytes) : nil
    }

    /// Puts a new file in the place of the old one, whoever else writes there: what is read is wholly one or the other, or
    /// nothing when the new one cannot be written.
    private func replace(_ path: String, with data: Data) {
        let temporary = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 16))\(Self.temporarySuffix)"
        do throws(SystemFailure) {
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try file.setMode(0o600)
            try file.write(data)
            try file.finish()
            try repeating("rename") { rename(temporary, path) }
        } catch {
            _ = unlink(temporary)
            _ = unlink(path)
        }
    }

    /// The name of the file in whose place one of this name is, or is written to be put: a process that is killed leaves
    /// what it has written so far.
    private static func finalName(of name: String) -> Substring {
        guard name.hasSuffix(temporarySuffix) else { return name[...] }
        let marked = name.dropLast(temporarySuffix.count)
        return marked.lastIndex(of: ".").map { marked[..<$0] } ?? marked
    }

    private func removeAll(where isRemoved: @escaping @Sendable (String) -> Bool) {
        queue.begin { [self] in
            guard isUsable else { return }
            for name in names() where isRemoved(name) { _ = unlink(path + "/" + name) }
        }
    }

    private func names() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}

// MARK: - Room

extension CacheDisk {
    private static let temporarySuffix = ".tmp"

    /// Takes note of bytes that were written, and makes room when there are too many.
    private func count(_ written: Int) {
        let isFull = bytes.withLock { bytes in
            bytes = bytes.map { $0 + written }
            return bytes.map { $0 > maxBytes } ?? true
        }
        // What is replaced counts twice, and what others write does not: only looking tells.
        if isFull { makeRoom() }
    }

    /// Removes what was not used for longest, down to seven eighths, and what killed processes have left.
    private func makeRoom() {
        let files = names().compactMap { name -> (path: String, size: Int, used: timespec)? in
            let path = self.path + "/" + name
            guard name.hasSuffix(Self.suffix) || name.hasSuffix(Self.temporarySuffix),
                let status = try? FileStatus(of: path, followsLinks: false), status.isRegularFile
            else { return nil }
            if name.hasSuffix(Self.temporarySuffix), status.modified.tv_sec < time(nil) - 3600 {
                _ = unlink(path)
                return nil
            }
            return (path, status.size, status.modified)
        }
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
}
