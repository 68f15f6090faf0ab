/// The call that the current task works for, known everywhere within the call without being passed on, until the call
/// ends.
///
/// A task-local value reaches every task that is started within the call, even a task that outlives the call: one begun
/// in `onSuccess`, or one that fetches a token for many callers. So the scope ends with its call, and does not bind
/// such tasks any longer. A deadline binds even less: only the call's own task, a task that it waits for
/// (``reentering(_:)``) and, through cancellation, their children.
package struct CallScope: Sendable {
    /// The scope that was entered around the current task; its call may have ended.
    @TaskLocal private static var entered: CallScope?

    private static let lastId = Locked<UInt64>(0)
    /// The most enclosing calls that are remembered: calls that start one another would otherwise form an endless chain.
    private static var maxAncestors: Int { 16 }

    /// The call.
    package let identity: CallIdentity
    /// The call's number in this process, from 1.
    package var id: UInt64 { identity.id }
    /// How long the call may take; nil for no limit.
    package let deadline: Duration?
    /// The time since the call began, on the clock of its service.
    package let stopwatch: Stopwatch
    private let isOver = Locked(false)
    /// The task that the deadline binds; nil outside of all tasks.
    private var task: Int?

    /// Creates a scope within the current one, for a call in the current task.
    package init(requestType: any Any.Type, deadline: Duration?, stopwatch: Stopwatch) {
        let id = Self.lastId.withLock { last in
            last += 1
            return last
        }
        let outer = Self.current?.identity
        let ancestors = outer.map { [$0.id] + $0.ancestors.prefix(Self.maxAncestors - 1) } ?? []
        identity = CallIdentity(id: id, ancestors: ancestors, requestType: requestType)
        (self.deadline, self.stopwatch) = (deadline?.clampedToCentury, stopwatch)
        task = Self.currentTask
    }

    /// The call that the current task works for; nil outside of all calls, and once it has ended.
    static var current: CallScope? {
        entered.flatMap { scope in scope.isOver.withLock { $0 } ? nil : scope }
    }

    /// Runs the call, and ends the scope with it.
    package func enter<Value>(_ work: () async -> Value) async -> Value {
        defer { isOver.withLock { $0 = true } }
        return await Self.$entered.withValue(self, operation: work)
    }

    /// Work that a task of its own does for the call while the call waits for it: the deadline binds it as well.
    package static func reentering<Value>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> @Sendable () async throws -> Value {
        guard let scope = current, scope.remaining != nil else { return work }
        return { [scope] in
            var scope = scope
            scope.task = currentTask
            return try await $entered.withValue(scope, operation: work)
        }
    }

    /// Starts work that belongs to no call.
    static func leave<Value>(_ start: () -> Value) -> Value {
        $entered.withValue(nil, operation: start)
    }

    /// Runs work that belongs to no call.
    package static func runOutside<Value>(_ work: () async -> Value) async -> Value {
        await $entered.withValue(nil, operation: work)
    }

    /// The time left until the deadline, never negative; nil if there is no deadline, and in any task that it does not
    /// bind.
    ///
    /// A duration rather than an instant, since a call within this one may have a service with another clock.
    var remaining: Duration? {
        guard let deadline, task == Self.currentTask else { return nil }
        return max(.zero, deadline - stopwatch.elapsed)
    }

    /// A number that tells running tasks apart; nil outside of all tasks.
    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
