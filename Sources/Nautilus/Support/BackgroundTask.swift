import Dispatch

/// Starts work that outlives the call which asked for it: a refresh, above all.
///
/// An unstructured task does not inherit its creator's task executor, so a test that runs a whole storm on one
/// deterministic executor would lose sight of it. The test kit binds ``starter`` to bring such tasks home.
package enum BackgroundTask {
    package typealias Work = @Sendable () async -> Void

    /// Starts background work.
    ///
    /// Not the bare closure: optimised, Swift 6.3 pushes a task-local value of a function's type without its metadata,
    /// and crashes.
    package struct Starter: Sendable {
        private let start: @Sendable (@escaping Work) -> Task<Void, Never>

        package init(_ start: @escaping @Sendable (@escaping Work) -> Task<Void, Never>) {
            self.start = start
        }

        func callAsFunction(_ work: @escaping Work) -> Task<Void, Never> { start(work) }
    }

    /// How background work is started; nil, outside a simulation, means an ordinary unstructured task.
    @TaskLocal package static var starter: Starter?

    /// Starts `work` at once, detached from the caller's cancellation and from the call around it, but with the other
    /// task-local values.
    ///
    /// The call is one, and the work is for many: a refresh that ended with the call which happened to start it would
    /// have to be made again by the others. With high priority, not the caller's: a prefetch may start the refresh that
    /// a person waits for.
    @discardableResult
    package static func start(_ work: @escaping Work) -> Task<Void, Never> {
        CallScope.leave {
            starter?(work) ?? Task(priority: .high, operation: work)
        }
    }

    /// Starts `work` as a part of the current task's own: with its task-local values, and born
    /// cancelled when it is, but not awaited by it, nor cancelled with it later.
    package static func branch(_ work: @escaping Work) -> Task<Void, Never> {
        guard let starter else { return Task.begin(work) }
        let task = starter(work)
        if Task.isCancelled { task.cancel() }
        return task
    }
}

extension BackgroundTask {
    /// Starts `work` that its caller awaits by other means: a completion handler, a page ahead.
    ///
    /// Unlike ``start(_:)`` it keeps the caller's priority, and names the call around it: the work is the caller's own.
    /// The caller's cancellation and deadline do not reach it; the holder of the task cancels it.
    package static func startForCaller(_ work: @escaping Work) -> Task<Void, Never> {
        starter?(work) ?? Task(operation: work)
    }
}

extension Task where Failure == Never {
    /// A task for a part of the current one's work: with its task-local values, born cancelled when that one is.
    ///
    /// It begins on the caller's thread, where the system knows of that: a request that is under way in microseconds
    /// wakes no other thread for it.
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
