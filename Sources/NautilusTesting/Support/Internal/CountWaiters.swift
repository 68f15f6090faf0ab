import Foundation
import Nautilus

/// Tasks that wait until a count is reached, such as that of sleepers or of attempts.
///
/// Part of the owner's state, and guarded by the owner's lock; continuations are resumed after the lock is released.
struct CountWaiters: Sendable {
    typealias Continuation = CheckedContinuation<Void, any Error>

    private var waiting: [(id: Int, count: Int, continuation: Continuation)] = []
    private var lastId = 0

    fileprivate mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    fileprivate mutating func add(_ continuation: Continuation, id: Int, until count: Int) {
        waiting.append((id: id, count: count, continuation: continuation))
    }

    /// Takes out the waiters that wait for `count` or less.
    mutating func reached(_ count: Int) -> [Continuation] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.count <= count }
        waiting.removeAll { $0.count <= count }
        return reached.map(\.continuation)
    }

    fileprivate mutating func remove(_ id: Int) -> Continuation? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0).continuation }
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
        let id = withLock { $0[keyPath: part].makeId() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = withLock { state in
                    // The flag is set before the handler runs, so either it is seen here, or the handler finds the
                    // waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if counted(state) >= count { return .success(()) }
                    state[keyPath: part].add(continuation, id: id, until: count)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            withLock { $0[keyPath: part].remove(id) }?.resume(throwing: CancellationError())
        }
    }
}
