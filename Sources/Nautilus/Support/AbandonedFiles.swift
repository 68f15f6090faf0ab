import Foundation

/// Files that killed processes have left: they have names of ours, and no process has them open.
///
/// A process locks such a file for as long as it is open, and the system frees the lock when the process ends, however it
/// ends. On iOS and its like no lock is held, since the system ends an app that is suspended with one in a container that it
/// shares (0xdead10cc); there only age tells.
enum AbandonedFiles {
    /// The purpose of a file, which is part of its name.
    enum Purpose: String, Sendable {
        /// The part of a download, beside its target.
        case partial
        /// A body that waits on disk until it is sent, among the system's temporary files.
        case spool

        /// A name for a new file, which no other has.
        func name() -> String { prefix + UUID().uuidString + suffix }

        fileprivate var prefix: String { self == .partial ? ".nautilus-" : "nautilus-" }
        fileprivate var suffix: String { "." + rawValue }
    }

    /// How long a file was not written before it counts as left: an hour where a lock tells, so that one that is created in
    /// this moment and not locked yet is none of them, and a week where it does not.
    static var patience: Duration {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            .seconds(604_800)
        #else
            .seconds(3600)
        #endif
    }

    /// Where folders are looked through, one after the other: a large one takes long.
    static let queue = BlockingQueue(label: "nautilus.abandoned-files")
    /// The folders that this process has looked through, by purpose.
    private static let visited = Locked<Set<String>>([])
    private static let maxVisited = 1_000

    /// Holds a file that is in use, until it is closed.
    static func hold(_ descriptor: Int32) {
        #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            // Where the file system has no locks, this one cannot be had, and the file stays.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
        #endif
    }

    /// Removes the files left in a folder, later and on a thread of its own; nothing when this process has done so
    /// before, in one of the last thousand folders at most.
    static func collect(_ purpose: Purpose, in folder: URL) {
        let isFirst = visited.withLock { visited in
            if visited.count >= maxVisited { visited.removeAll() }
            return visited.insert("\(purpose) \(folder.path)").inserted
        }
        guard isFirst else { return }
        queue.begin { remove(purpose, in: folder, at: Date()) }
    }

    /// Removes the files left in a folder.
    ///
    /// - Parameter now: The time, by the clock that dates files.
    static func remove(_ purpose: Purpose, in folder: URL, at now: Date) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(purpose.prefix) && name.hasSuffix(purpose.suffix) {
            let path = folder.appendingPathComponent(name).path
            // One that cannot be opened is another user's.
            guard let file = try? OpenFile(path, O_RDWR), let status = try? file.status(), status.isRegularFile,
                now.timeIntervalSince1970 - TimeInterval(status.modified.tv_sec) >= patience / .seconds(1),
                (try? file.lock()) == true
            else { continue }
            _ = unlink(path)
        }
    }
}
