/// Marks the tasks that run a refresh, so that one which asks its own coordinator gets an error and not a deadlock.
enum RefreshScope {
    /// One run of a coordinator's refresh.
    final class Mark: Sendable {
        private let coordinator: ObjectIdentifier
        private let isRunning = Locked(true)

        fileprivate init(_ coordinator: AnyObject) {
            self.coordinator = ObjectIdentifier(coordinator)
        }

        /// The refresh has ended: tasks that it has left behind may ask like any other.
        fileprivate func end() {
            isRunning.withLock { $0 = false }
        }

        fileprivate var isOver: Bool { isRunning.withLock { !$0 } }

        fileprivate func covers(_ other: AnyObject) -> Bool {
            coordinator == ObjectIdentifier(other) && !isOver
        }
    }

    /// The refreshes that the current task was begun in: several when one coordinator's refresh uses another's service.
    /// Some may be over.
    @TaskLocal static var marks: [Mark] = []

    /// Whether the current task is part of a running refresh, of whichever coordinator.
    static var isActive: Bool { marks.contains { !$0.isOver } }

    /// Whether the current task is part of a running refresh of `coordinator`.
    static func contains(_ coordinator: AnyObject) -> Bool {
        marks.contains { $0.covers(coordinator) }
    }

    /// Runs a refresh of `coordinator`, and ends its mark with it.
    static func run<Value>(_ coordinator: AnyObject, _ refresh: () async throws -> Value) async rethrows -> Value {
        let mark = Mark(coordinator)
        defer { mark.end() }
        // Without those that are over: a refresh that leaves a task behind, which refreshes again, would add one each time.
        return try await $marks.withValue(marks.filter { !$0.isOver } + [mark], operation: refresh)
    }
}

extension AttemptContext {
    /// Whether the request is part of a refresh that goes on, of whichever coordinator.
    ///
    /// Other requests wait for a refresh. So an interceptor that lets one request wait for another has to let this one pass:
    /// the one that it waited for might be waiting for it.
    public var isPartOfRefresh: Bool { RefreshScope.isActive }
}
