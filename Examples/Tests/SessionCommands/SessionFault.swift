/// A fault in a process, and its time: counted from when it is planned.
public enum SessionFault: Codable, Hashable, Sendable {
    /// Calls of the system fail, or one is the process's last: those on a path, from the given number on, which counts
    /// from 1, and as many as given; nil for all.
    case system(SystemCall, Effect, on: PathEnding, from: Int = 1, count: Int? = nil)
    /// The process is killed when it has a request ready and has sent nothing of it.
    case killBeforeSending(Exchange)
    /// The process is killed when it has the answer and has done nothing with it.
    case killAfterAnswer(Exchange)

    /// Whether calls of the system can be made to fail: on Apple's platforms, a library calls the C library that it was
    /// linked with, whatever the program defines.
    public static var reachesSystemCalls: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    /// A call of the system; of `open`, only those for writing count.
    public enum SystemCall: String, CaseIterable, Codable, Hashable, Sendable {
        case open, write, fsync, rename, unlink
    }

    /// The effect on a call of the system.
    public enum Effect: Codable, Hashable, Sendable {
        /// The process is killed in its place.
        case killBefore
        /// The process is killed when it is done.
        case killAfter
        /// It fails with this error number. A `write` takes half of its bytes first.
        case failure(Int32)
    }

    /// The ending of a call's path.
    public enum PathEnding: Codable, Hashable, Sendable {
        /// A new file, before it takes the place of the old one.
        case temporary
        /// The credential's file.
        case credential
        /// The credential's lock.
        case lock
        /// A note that a session has been ended.
        case end
        /// The store's folder.
        case folder
    }

    /// Which request is meant.
    public enum Exchange: String, Codable, Hashable, Sendable {
        /// The one to the token endpoint.
        case refresh
        /// The one for notes.
        case call
    }
}
