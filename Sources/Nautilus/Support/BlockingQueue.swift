import Dispatch

/// Runs work that waits for a disk on a thread of its own, one piece after another: Swift's few threads are for work
/// that never waits.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    /// Runs `work`, and returns its result. It is not interrupted by cancellation.
    package func run<Success: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Runs `work` later, after the work that was begun before it.
    package func begin(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }
}
