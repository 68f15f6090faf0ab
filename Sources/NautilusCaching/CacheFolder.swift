import Foundation
import Nautilus

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
