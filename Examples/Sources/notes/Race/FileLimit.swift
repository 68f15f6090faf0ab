import Foundation

/// How many files a process may have open: each process of a race takes two pipes, and a connection at the server.
enum FileLimit {
    /// Allows as many as a large race needs; shells on macOS allow 256.
    static func raise() {
        #if canImport(Darwin)
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0, limit.rlim_cur < 4_096 else { return }
            limit.rlim_cur = min(4_096, limit.rlim_max)
            setrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }
}
