/// Tells one waiter from all others, without a counter that all would share.
package final class WaiterTicket: Hashable, Sendable {
    package static func == (left: WaiterTicket, right: WaiterTicket) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A task that waits for a value that others bring it.
package struct Waiter<Success: Sendable>: Identifiable, Sendable {
    package let id: WaiterTicket
    // Checked: where an unsafe one is resumed before its task has suspended, the thread sanitizer reports a race.
    private let continuation: CheckedContinuation<Success, any Error>

    fileprivate init(_ id: WaiterTicket, _ continuation: CheckedContinuation<Success, any Error>) {
        (self.id, self.continuation) = (id, continuation)
    }

    /// It goes on with `value`.
    package func resume(returning value: Success) { continuation.resume(returning: value) }
    /// It goes on with an error.
    package func resume(throwing error: any Error) { continuation.resume(throwing: error) }
    /// It goes on as `result` says.
    package func resume(with result: Result<Success, some Error>) { continuation.resume(with: result) }
}

extension Waiter<Void> {
    /// It goes on.
    package func resume() { resume(returning: ()) }
}

extension Locked {
    /// Suspends the task until the waiter has been taken out of the value, and resumed.
    ///
    /// The one place where a task that may be cancelled begins to wait. Looking for the cancellation and joining happen
    /// under one lock, and so does leaving: whichever of cancellation and joining comes second finds the other, so that
    /// no cancelled task waits, and none is resumed twice.
    ///
    /// - Parameters:
    ///   - join: Puts the waiter where others find it, or finds that it need not wait; under the lock. Not called when
    ///     the task has been cancelled.
    ///   - joined: Called when the lock has been released, with the result of `join`: resumes the waiter if it need not
    ///     wait.
    ///   - leave: Takes the waiter out again, as the task has been cancelled; under the lock. Nil when it is not there,
    ///     and has been or will be resumed elsewhere.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled. Otherwise the error that the
    ///   waiter is resumed with.
    package func wait<Success: Sendable, Joined: Sendable>(
        join: (inout Value, Waiter<Success>) -> Joined,
        joined: (Joined, Waiter<Success>) -> Void,
        leave: @escaping @Sendable (inout Value, WaiterTicket) -> Waiter<Success>?
    ) async throws -> Success {
        let ticket = WaiterTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(ticket, continuation)
                let outcome: Joined? = withLock { Task.isCancelled ? nil : join(&$0, waiter) }
                guard let outcome else { return waiter.resume(throwing: CancellationError()) }
                joined(outcome, waiter)
            }
        } onCancel: {
            withLock { leave(&$0, ticket) }?.resume(throwing: CancellationError())
        }
    }
}

/// Waiters in line: the most urgent first, and in the order of their arrival among the equally urgent.
///
/// Joining, being served and leaving cost the same however many wait. That matters when all leave together: ten
/// thousand calls that are cancelled at once must not hold the lock for minutes.
package struct WaitingLine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    private struct Rank: Sendable {
        let urgency: Int
        var waiters = LinkedTable<Waiter.ID, Waiter>()
    }

    /// One for each urgency that has been met, the most urgent first: a handful, of which most lines need one.
    private var ranks: [Rank] = []

    /// How many wait.
    package private(set) var count = 0

    /// Creates an empty line.
    package init() {}

    /// Adds a waiter behind those that are as urgent.
    package mutating func append(_ waiter: Waiter, urgency: Int = 0) {
        let index = ranks.firstIndex { $0.urgency <= urgency } ?? ranks.count
        if index == ranks.count || ranks[index].urgency < urgency { ranks.insert(Rank(urgency: urgency), at: index) }
        ranks[index].waiters.append(waiter, for: waiter.id)
        count += 1
    }

    /// The first of the most urgent, which stays; nil when the line is empty.
    package var first: Waiter? { ranks.lazy.compactMap(\.waiters.first).first }

    /// Takes out the first of the most urgent; nil when the line is empty.
    package mutating func popFirst() -> Waiter? {
        guard let index = ranks.firstIndex(where: { $0.waiters.count > 0 }) else { return nil }
        count -= 1
        return ranks[index].waiters.popFirst()
    }

    /// Takes out one waiter; nil when it does not, or no longer, wait.
    package mutating func remove(_ id: Waiter.ID) -> Waiter? {
        for index in ranks.indices {
            guard let waiter = ranks[index].waiters.removeValue(for: id) else { continue }
            count -= 1
            return waiter
        }
        return nil
    }

    /// Takes out all that are concerned, in their order: for events that concern all, since it looks at each.
    package mutating func remove(where isConcerned: (Waiter) -> Bool) -> [Waiter] {
        let ids = ranks.flatMap { $0.waiters.keys { isConcerned($1) } }
        return ids.compactMap { remove($0) }
    }

    /// Takes out all, in their order.
    package mutating func removeAll() -> [Waiter] {
        defer { self = WaitingLine() }
        // Of one rank as they are: a crowd is not copied once more.
        return ranks.count == 1 ? ranks[0].waiters.values : ranks.flatMap(\.waiters.values)
    }
}
