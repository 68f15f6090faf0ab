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
    /// The call is one, and the work is for many: a refresh that ended with the call which happened to start it would have
    /// to be made again by the others. With high priority, not the caller's: a prefetch may start the
    /// refresh that a person waits for.
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
