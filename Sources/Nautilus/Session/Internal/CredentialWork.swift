/// Work that brings, refreshes or revokes a credential. No redirect takes a request of it that carries one to another
/// origin, and no cache answers it; a refresh that asks its own coordinator gets an error, not a deadlock.
///
/// A task-local value, which ends with the work: tasks that the work has left behind are no longer part of it.
package final class CredentialWork: Sendable {
    @TaskLocal private static var current: CredentialWork?

    /// The work around this one, unless it had ended when this one began.
    private let outer: CredentialWork?
    /// The coordinator whose refresh it is; nil for other work, such as a sign-in.
    private let coordinator: ObjectIdentifier?
    private let isWantedNow: @Sendable () -> Bool
    private let isOver = Locked(false)

    private init(of coordinator: AnyObject?, isWanted: @escaping @Sendable () -> Bool) {
        // Of work that has ended, nothing is kept: a refresh that leaves behind a task that refreshes again would otherwise
        // grow a chain.
        var outer = Self.current
        while let ended = outer, ended.isOver.withLock({ $0 }) { outer = ended.outer }
        (self.outer, self.coordinator, isWantedNow) = (outer, coordinator.map(ObjectIdentifier.init), isWanted)
    }

    /// Whether the current task is part of such work.
    package static var isActive: Bool { contains { _ in true } }

    /// Whether the current task is part of a refresh of any coordinator.
    package static var isRefresh: Bool { contains { $0.coordinator != nil } }

    /// Whether the current task is part of a refresh of `coordinator`.
    static func refreshes(_ coordinator: AnyObject) -> Bool {
        contains { $0.coordinator == ObjectIdentifier(coordinator) }
    }

    /// Whether an answer is still of use to whoever began the work. If not, the work sends nothing more, and only an
    /// answer on its way is taken.
    static var isWanted: Bool {
        var work = current
        while let inner = work {
            if !inner.isOver.withLock({ $0 }), !inner.isWantedNow() { return false }
            work = inner.outer
        }
        return true
    }

    private static func contains(_ condition: (CredentialWork) -> Bool) -> Bool {
        var work = current
        while let inner = work {
            if condition(inner), !inner.isOver.withLock({ $0 }) { return true }
            work = inner.outer
        }
        return false
    }

    /// Runs such work.
    ///
    /// - Parameters:
    ///   - coordinator: The coordinator whose refresh it is. Default: none.
    ///   - isWanted: Whether its answer is still of use. Default: always.
    package static func run<Value>(
        refreshing coordinator: AnyObject? = nil,
        isWanted: @escaping @Sendable () -> Bool = { true },
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let mark = CredentialWork(of: coordinator, isWanted: isWanted)
        defer { mark.isOver.withLock { $0 = true } }
        return try await $current.withValue(mark, operation: work, isolation: isolation)
    }
}

extension Error {
    /// Whether the error goes back to a refresh that asked its own coordinator.
    var comesFromRecursion: Bool {
        if case RefreshError.recursive = self as any Error { return true }
        return (self as? any WrappingError)?.wrapped?.comesFromRecursion ?? false
    }
}
