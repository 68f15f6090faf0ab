import Foundation

/// The descriptors that the process holds open.
enum OpenDescriptors {
    /// Whether it can be told what one test holds: nothing else runs, as `NAUTILUS_ALONE` says.
    static let canBeCounted = ProcessInfo.processInfo.environment["NAUTILUS_ALONE"] != nil

    /// How many there are once no transport has a thread any more, which end on their own after their transports.
    ///
    /// - Parameter expected: How many there are to be; nil when that is not known yet. More than that have ten seconds to go.
    /// - Returns: Nil when a transport has a thread after ten seconds.
    static func settled(at expected: Int? = nil) async throws -> Int? {
        for _ in 0..<1000 {
            let now = try count()
            if try loopThreads() == 0, now <= expected ?? .max { return now }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try loopThreads() == 0 ? count() : nil
    }

    private static func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// How many threads there are that wait for the sockets of a transport.
    private static func loopThreads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { thread in
            // One that has ended meanwhile has no name any more.
            let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return name?.hasPrefix("nautilus-curl") == true
        }.count
    }
}
