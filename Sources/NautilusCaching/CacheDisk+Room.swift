import Foundation
import Nautilus

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
