import Foundation

/// What the process holds of the system.
enum OpenDescriptors {
    static func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// How many threads there are that wait for the sockets of a transport.
    static func loopThreads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { thread in
            // One that has ended meanwhile has no name any more.
            let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return name?.hasPrefix("nautilus-curl") == true
        }.count
    }

    /// Waits until the condition holds; the test's time limit ends it otherwise.
    static func settle(until condition: (_ count: Int, _ threads: Int) -> Bool) async throws {
        while !condition(try count(), try loopThreads()) { try await Task.sleep(for: .milliseconds(5)) }
    }
}
