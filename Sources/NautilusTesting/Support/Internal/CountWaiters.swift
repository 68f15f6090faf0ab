import Foundation
import Nautilus

/// Tasks that wait until a count is reached, such as that of sleepers or of attempts.
///
/// Part of the owner's state, and guarded by the owner's lock; they are resumed after the lock is released.
struct CountWaiters: Sendable {
    private var waiting: [(count: Int, waiter: Waiter<Void>)] = []

    fileprivate mutating func add(_ waiter: Waiter<Void>, until count: Int) {
        waiting.append((count, waiter))
    }

    /// Takes out the waiters that wait for `count` or less.
    mutating func reached(_ count: Int) -> [Waiter<Void>] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.count <= count }
        waiting.removeAll { $0.count <= count }
        return reached.map(\.waiter)
    }

    fileprivate mutating func remove(_ id: WaiterTicket) -> Waiter<Void>? {
        waiting.firstIndex { $0.waiter.id == id }.map { waiting.remove(at: $0).waiter }
    }
}

/// A state with a count that tasks wait for.
protocol CountedState: Sendable {
    var count: Int { get }
    var waiters: CountWaiters { get set }
}

extension Locked where Value: CountedState {
    /// Returns once the state's count is at least `count`.
    ///
    /// - Parameters:
    ///   - things: The name of the counted things, for the line that says what a test waits for.
    ///   - part: Where the waiting tasks are kept.
    ///   - counted: Returns the present count.
    ///   - clock: The clock that measures the wait. Default: the real one, since the test's own clock may stand still.
    ///   - say: Outputs that line after five seconds, longer than any test that needs no real time takes for its next
    ///     step. The wait goes on, since a busy machine is not a failure. Default: standard error.
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    func waitForCount(
        _ count: Int,
        of things: String,
        in part: WritableKeyPath<Value, CountWaiters> & Sendable = \.waiters,
        counting counted: @escaping @Sendable (Value) -> Int = { $0.count },
        on clock: any Clock<Duration> = ContinuousClock(),
        say: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }
    ) async throws {
        if withLock({ counted($0) >= count }), !Task.isCancelled { return }
        let watch = Task.detached {
            guard (try? await clock.sleep(for: .seconds(5))) != nil else { return }
            say("A test still waits for \(count) \(things) after 5 s: there are \(withLock { counted($0) }).")
        }
        defer { watch.cancel() }
        try await wait { state, waiter in
            let mustWait = counted(state) < count
            if mustWait { state[keyPath: part].add(waiter, until: count) }
            return mustWait
        } joined: { mustWait, waiter in
            if !mustWait { waiter.resume() }
        } leave: { state, id in
            state[keyPath: part].remove(id)
        }
    }
}
