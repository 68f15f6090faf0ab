import Foundation

/// Marks the tasks that run a refresh, so that a refresh that asks its own coordinator gets an error, not a deadlock.
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

        /// Notes that the refresh has ended: tasks that it has left behind may ask like any other.
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

        /// Whether the refresh has failed with `error` because it asked its own coordinator, however the refusal is
        /// wrapped.
        fileprivate func explains(_ error: any Error) -> Bool {
            if error.comesFromRecursion { return true }
            switch error {
            // These errors themselves say what has happened.
            case is any WrappingError, is any RefreshFailure, is TerminalRefreshFailure: return false
            case is CancellationError, is URLError: return false
            // A service's own error may not keep the error that it was made from.
            default: return hasAskedItself.withLock { $0 }
            }
        }
    }

    /// The refreshes that the current task belongs to: several when one coordinator's refresh uses another's service.
    /// Some may be over.
    @TaskLocal static var marks: [Mark] = []

    /// Whether the current task is part of a running refresh of any coordinator.
    static var isActive: Bool { marks.contains { !$0.isOver } }

    /// Whether the current task is part of a running refresh of `coordinator`.
    static func contains(_ coordinator: AnyObject) -> Bool {
        marks.contains { $0.covers(coordinator) }
    }

    /// The answer when the current task asks `coordinator` although it is part of a refresh of that coordinator.
    static func refusal(by coordinator: AnyObject) -> RefreshError {
        for mark in marks where mark.covers(coordinator) { mark.noteQuestion() }
        return .recursive
    }

    /// Runs a refresh of `coordinator` with a mark that ends when the refresh does.
    ///
    /// - Throws: The refresh's error, or ``RefreshError/recursive`` if that is its cause, since a mistake in the
    ///   program must not look like an outage.
    static func run<Value>(_ coordinator: AnyObject, _ refresh: () async throws -> Value) async throws -> Value {
        let mark = Mark(coordinator)
        defer { mark.end() }
        // Drops the marks of refreshes that are over: a refresh that leaves behind a task that refreshes again would
        // add one each time.
        do {
            return try await $marks.withValue(marks.filter { !$0.isOver } + [mark], operation: refresh)
        } catch  where mark.explains(error) {
            throw RefreshError.recursive
        }
    }
}

/// Work that brings, renews or revokes a credential. No redirect takes a request of it that carries one to another
/// origin, and no cache answers it.
package enum CredentialWork {
    /// A mark that ends with the work: tasks that the work has left behind are no longer part of it.
    private final class Mark: Sendable {
        private let outer: Mark?
        private let isOver = Locked(false)
        private let isWantedNow: @Sendable () -> Bool

        init(within outer: Mark?, isWanted: @escaping @Sendable () -> Bool) {
            self.outer = outer?.isActive == true ? outer : nil
            isWantedNow = isWanted
        }

        var isWanted: Bool { isWantedNow() && outer?.isWanted != false }

        var isActive: Bool { !isOver.withLock { $0 } || outer?.isActive == true }

        func end() { isOver.withLock { $0 = true } }
    }

    @TaskLocal private static var mark: Mark?

    /// Whether the current task is part of such work; always true in a refresh.
    package static var isActive: Bool { mark?.isActive == true || RefreshScope.isActive }

    /// Whether an answer is still of use to whoever began the work. If not, the work sends nothing more, and only an
    /// answer on its way is taken.
    static var isWanted: Bool { mark?.isWanted ?? true }

    /// Runs such work.
    ///
    /// - Parameter isWanted: Whether its answer is still of use. Default: always.
    package static func run<Value>(
        isWanted: @escaping @Sendable () -> Bool = { true },
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let mark = Mark(within: mark, isWanted: isWanted)
        defer { mark.end() }
        return try await $mark.withValue(mark, operation: work, isolation: isolation)
    }
}

extension Error {
    /// Whether the error goes back to a refresh that asked its own coordinator.
    fileprivate var comesFromRecursion: Bool {
        if case RefreshError.recursive = self as any Error { return true }
        return (self as? any WrappingError)?.wrapped?.comesFromRecursion ?? false
    }
}

extension AttemptContext {
    /// Whether the request is part of a running refresh, of any coordinator.
    public var isPartOfRefresh: Bool { RefreshScope.isActive }

    /// Whether the request brings, renews or revokes a credential: it is part of a running refresh, or of a session's
    /// sign-in or revocation.
    ///
    /// Other requests wait for a refresh, and a sign-in ends that wait. So an interceptor that makes one request wait
    /// for another has to let this one pass: the other request may itself be waiting for it.
    public var isForCredential: Bool { CredentialWork.isActive }
}
