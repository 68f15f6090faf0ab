import Dispatch

/// Runs what waits for a disk on a thread of its own, one piece after another: Swift's few threads are for work that
/// never waits.
struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    /// Runs `work`, and returns its result. It is not interrupted by cancellation.
    func run<Success: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}
