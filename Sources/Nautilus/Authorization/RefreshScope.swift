/// Marks the tasks that run a refresh, so that one which asks its own coordinator gets an error and not a deadlock.
enum RefreshScope {
    /// One run of a coordinator's refresh.
    final class Mark: Sendable {
        private let coordinator: ObjectIdentifier
        private let isRunning = Locked(true)

        init(_ coordinator: AnyObject) {
            self.coordinator = ObjectIdentifier(coordinator)
        }

        /// The refresh has ended: tasks that it has left behind may ask like any other.
        func end() {
            isRunning.withLock { $0 = false }
        }

        fileprivate func covers(_ other: AnyObject) -> Bool {
            coordinator == ObjectIdentifier(other) && isRunning.withLock { $0 }
        }
    }

    /// The refreshes that the current task is part of: several when one coordinator's refresh uses another's service.
    @TaskLocal static var marks: [Mark] = []

    /// Whether the current task is part of a running refresh of `coordinator`.
    static func contains(_ coordinator: AnyObject) -> Bool {
        marks.contains { $0.covers(coordinator) }
    }
}
