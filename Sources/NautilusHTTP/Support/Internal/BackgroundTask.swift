import Dispatch

/// Starts work that outlives the call that asked for it, above all a refresh.
///
/// An unstructured task does not inherit its creator's task executor, so a test that runs many calls on one
/// deterministic executor would lose track of it. So a simulation of the test kit starts such tasks itself.
package enum BackgroundTask {
    package typealias Work = @Sendable () async -> Void
    package typealias Starter = @Sendable (@escaping Work) -> Task<Void, Never>

    /// Starts `work` at once, independent of the caller's cancellation and of the call around it, but with the other
    /// task-local values.
    ///
    /// The work is for many calls: if a refresh ended with the call that happened to start it, the others would have to
    /// start it again. The priority is high and not the caller's, since a prefetch may start the refresh that a person
    /// waits for.
    @discardableResult
    package static func start(_ work: @escaping Work) -> Task<Void, Never> {
        CallScope.leave {
            SimulatedSystem.current?.start(work) ?? Task(priority: .high, operation: work)
        }
    }

    /// Starts `work` as part of the current task's work: with its task-local values, and cancelled from the start if
    /// the task is. The task does not wait for it, and does not cancel it later.
    package static func branch(_ work: @escaping Work) -> Task<Void, Never> {
        guard let task = SimulatedSystem.current?.start(work) else { return Task.begin(work) }
        if Task.isCancelled { task.cancel() }
        return task
    }

    /// Starts `work` whose result reaches the caller by other means, such as a completion handler or a prefetched page.
    ///
    /// The work is the caller's own, so unlike ``start(_:)`` it keeps the caller's priority and belongs to the call
    /// around it. The caller's cancellation and deadline do not reach it; the holder of the task cancels it.
    package static func startForCaller(_ work: @escaping Work) -> Task<Void, Never> {
        SimulatedSystem.current?.start(work) ?? Task(operation: work)
    }
}

extension Task where Failure == Never {
    /// Starts a task for a part of the current task's work: with its task-local values, and cancelled from the start if
    /// the current task is.
    ///
    /// On systems that support it, the task begins on the caller's thread, so that a request that takes only
    /// microseconds to send need not wake another thread.
    static func begin(_ operation: @escaping @Sendable () async -> Success) -> Task {
        let isCancelled = Task<Never, Never>.isCancelled
        let start: @Sendable () async -> Success = {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return await operation()
        }
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(operation: start)
            }
        #endif
        return Task(operation: start)
    }
}

/// Runs work that waits for a disk on a thread of its own, one piece after another, since Swift's few threads must
/// never be blocked.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    /// Runs `work`, and returns its result. Cancellation does not interrupt it.
    package func run<Success: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Queues `work`, to run after the work queued before, and returns at once.
    package func begin(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }
}
