import Foundation

/// Marks the tasks that run a refresh, so that one which asks its own coordinator gets an error and not a deadlock.
enum RefreshScope {
    /// One run of a coordinator's refresh.
    final class Mark: Sendable {
        private let coordinator: ObjectIdentifier
        private let isRunning = Locked(true)
        /// Whether the refresh has asked its own coordinator.
        private let hasAskedItself = Locked(false)

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

        fileprivate func noteQuestion() {
            hasAskedItself.withLock { $0 = true }
        }

        /// Whether the refresh has failed with `error` because it asked its own coordinator, however that is wrapped.
        fileprivate func explains(_ error: any Error) -> Bool {
            if error.comesFromRecursion { return true }
            switch error {
            // These say themselves what has happened.
            case is any WrappingError, is any RefreshFailure, is TerminalRefreshFailure: return false
            case is CancellationError, is URLError: return false
            // A service's own error may have kept nothing of what it was made from.
            default: return hasAskedItself.withLock { $0 }
            }
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

    /// The answer to a question of the current task, which is part of a refresh of `coordinator`, to that same one.
    static func refusal(by coordinator: AnyObject) -> RefreshError {
        for mark in marks where mark.covers(coordinator) { mark.noteQuestion() }
        return .recursive
    }

    /// Runs a refresh of `coordinator`, and ends its mark with it.
    ///
    /// - Throws: What the refresh throws; ``RefreshError/recursive`` itself where that is the cause of it, since a mistake of
    ///   the program is not to look like an outage.
    static func run<Value>(_ coordinator: AnyObject, _ refresh: () async throws -> Value) async throws -> Value {
        let mark = Mark(coordinator)
        defer { mark.end() }
        // Without those that are over: a refresh that leaves a task behind, which refreshes again, would add one each time.
        do {
            return try await $marks.withValue(marks.filter { !$0.isOver } + [mark], operation: refresh)
        } catch  where mark.explains(error) {
            throw RefreshError.recursive
        }
    }
}

/// Work whose requests may carry a credential in their bodies: no redirect takes such a body to another origin.
package enum CredentialWork {
    @TaskLocal private static var isMarked = false

    /// Whether the current task is part of it; of a refresh always.
    static var isActive: Bool { isMarked || RefreshScope.isActive }

    /// Does it.
    package static func run<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        try await $isMarked.withValue(true, operation: work, isolation: isolation)
    }
}

extension Error {
    /// Whether a refresh that asked its own coordinator is at the bottom of it.
    fileprivate var comesFromRecursion: Bool {
        if case RefreshError.recursive = self as any Error { return true }
        return (self as? any WrappingError)?.wrapped?.comesFromRecursion ?? false
    }
}

extension AttemptContext {
    /// Whether the request is part of a refresh that goes on, of whichever coordinator.
    ///
    /// Other requests wait for a refresh. So an interceptor that lets one request wait for another has to let this one pass:
    /// the one that it waited for might be waiting for it.
    public var isPartOfRefresh: Bool { RefreshScope.isActive }
}
