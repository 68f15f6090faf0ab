/// The identity of a waiter, made without a counter that all waiters would share.
package final class WaiterTicket: Hashable, Sendable {
    package static func == (left: WaiterTicket, right: WaiterTicket) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A task that waits for a value, which others provide.
package struct Waiter<Success: Sendable>: Identifiable, Sendable {
    package let id: WaiterTicket
    // Checked, since the thread sanitizer reports a race if an unsafe continuation is resumed before its task has
    // suspended.
    private let continuation: CheckedContinuation<Success, any Error>

    fileprivate init(_ id: WaiterTicket, _ continuation: CheckedContinuation<Success, any Error>) {
        (self.id, self.continuation) = (id, continuation)
    }

    /// Resumes the task with `value`.
    package func resume(returning value: Success) { continuation.resume(returning: value) }
    /// Resumes the task with an error.
    package func resume(throwing error: any Error) { continuation.resume(throwing: error) }
    /// Resumes the task with the value or the error of `result`.
    package func resume(with result: Result<Success, some Error>) { continuation.resume(with: result) }
}

extension Waiter<Void> {
    /// Resumes the task.
    package func resume() { resume(returning: ()) }
}

extension Locked {
    /// Suspends the task until its waiter has been removed from the locked value, and resumed.
    ///
    /// This is the one place where a task that may be cancelled begins to wait. Checking for cancellation and joining
    /// happen under one lock, and so does leaving. Whichever of cancellation and joining comes second finds the other,
    /// so no cancelled task waits, and no task is resumed twice.
    ///
    /// - Parameters:
    ///   - join: Puts the waiter where others find it, or finds that it need not wait. Called under the lock, unless
    ///     the task has been cancelled.
    ///   - joined: Resumes the waiter if it need not wait. Called with the result of `join`, outside of the lock.
    ///   - leave: Removes the waiter of a cancelled task again, under the lock. Nil if somebody else resumes the
    ///     waiter.
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

extension Locked {
    /// Suspends the task in `queue` until it has been removed from it, and resumed; returns at once if it need not wait.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    package func wait(
        in queue: WritableKeyPath<Value, WaitQueue<Waiter<Void>>> & Sendable,
        while mustWait: (Value) -> Bool
    ) async throws {
        try await wait { value, waiter in
            let mustWait = mustWait(value)
            if mustWait { value[keyPath: queue].append(waiter) }
            return mustWait
        } joined: { mustWait, waiter in
            if !mustWait { waiter.resume() }
        } leave: { value, id in
            value[keyPath: queue].remove(id)
        }
    }
}

extension Locked {
    /// Suspends the task, the only one to wait there, until its continuation has been taken from `place`, and resumed;
    /// returns at once if it need not wait. A cancellation does not wake it.
    package func wait(
        in place: WritableKeyPath<Value, CheckedContinuation<Void, Never>?> & Sendable,
        while mustWait: (Value) -> Bool
    ) async {
        await withCheckedContinuation { continuation in
            let mustWait = withLock { value in
                let mustWait = mustWait(value)
                if mustWait { value[keyPath: place] = continuation }
                return mustWait
            }
            if !mustWait { continuation.resume() }
        }
    }
}

/// Waiters in a queue: the most urgent first, and those of equal urgency in the order of their arrival.
///
/// Joining, being served and leaving take constant time, however many wait. That matters when all leave together: ten
/// thousand calls that are cancelled at once must not hold the lock for minutes.
package struct WaitQueue<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    private struct Rank: Sendable {
        let urgency: Int
        var waiters = LinkedTable<Waiter.ID, Waiter>()
    }

    /// One rank for each urgency that has occurred, the most urgent first: at most a handful, and just one in most
    /// queues.
    private var ranks: [Rank] = []

    /// How many waiters there are.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Adds a waiter behind those of the same urgency.
    package mutating func append(_ waiter: Waiter, urgency: Int = 0) {
        let index = ranks.firstIndex { $0.urgency <= urgency } ?? ranks.count
        if index == ranks.count || ranks[index].urgency < urgency { ranks.insert(Rank(urgency: urgency), at: index) }
        ranks[index].waiters.append(waiter, for: waiter.id)
        count += 1
    }

    /// The first of the most urgent waiters, which stays in the queue; nil if the queue is empty.
    package var first: Waiter? { ranks.lazy.compactMap(\.waiters.first).first }

    /// The first waiter of each urgency, all of which stay in the queue.
    package var firstOfEach: [Waiter] { ranks.compactMap(\.waiters.first) }

    /// Removes and returns the first of the most urgent waiters; nil if the queue is empty.
    package mutating func popFirst() -> Waiter? {
        guard let index = ranks.firstIndex(where: { $0.waiters.count > 0 }) else { return nil }
        count -= 1
        return ranks[index].waiters.popFirst()
    }

    /// Removes and returns one waiter; nil if it is not, or no longer, in the queue.
    package mutating func remove(_ id: Waiter.ID) -> Waiter? {
        for index in ranks.indices {
            guard let waiter = ranks[index].waiters.removeValue(for: id) else { continue }
            count -= 1
            return waiter
        }
        return nil
    }

    /// Removes and returns all waiters that are concerned, in order. It checks every waiter, so it is meant for events
    /// that may concern all.
    package mutating func remove(where isConcerned: (Waiter) -> Bool) -> [Waiter] {
        let ids = ranks.flatMap { $0.waiters.keys { isConcerned($1) } }
        return ids.compactMap { remove($0) }
    }

    /// Removes and returns all waiters, in order.
    package mutating func removeAll() -> [Waiter] {
        defer { self = WaitQueue() }
        // With one rank, its values are returned as they are, which saves copying a crowd once more.
        return ranks.count == 1 ? ranks[0].waiters.values : ranks.flatMap(\.waiters.values)
    }
}
