import Nautilus

/// A clock that stands still until a test moves it, and remembers every sleep that was asked of it.
///
/// ```swift
/// let clock = ManualClock()
/// async let nap: Void = clock.sleep(for: .seconds(60))
/// try await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(60))
/// try await nap
/// #expect(clock.sleeps == [.seconds(60)])
/// ```
/// It is shared by everything that takes part in a test and may be used from any task or thread. Nothing on it traps:
/// instants saturate, and time never runs backwards.
public final class ManualClock: Clock {
    struct State: CountedState {
        var now: Duration = .zero
        var sleeps: [Duration] = []
        var queue = SleepQueue<CheckedContinuation<Void, any Error>>()
        var waiters = CountWaiters()

        var count: Int { queue.count }
    }

    let state = Locked(State())
    let settle: @Sendable (ManualClock) async -> Void

    /// Creates a clock at zero.
    public convenience init() {
        self.init { await $0.settleByYielding() }
    }

    init(settle: @escaping @Sendable (ManualClock) async -> Void) {
        self.settle = settle
    }

    /// The time: zero until something advances it.
    public var now: Instant { Instant(state.withLock { $0.now }) }

    /// One nanosecond; the clock itself is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Every sleep that was asked for, in order, as the time from asking to its deadline; a sleep that was cancelled,
    /// or that was over at once, is among them.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.count } }

    /// The deadline of the next sleeper to wake; nil without sleepers.
    public var nextDeadline: Instant? { state.withLock { $0.queue.nextDeadline }.map(Instant.init) }

    /// Sleeps until the clock has been advanced to `deadline`; a deadline that has passed returns at once.
    ///
    /// - Parameter tolerance: Ignored: a sleeper wakes exactly at its deadline.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.sleeps.append(deadline.offset - state.now)
            return state.sleeps.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { fallAsleep($0, id: id, until: deadline.offset) }
        } onCancel: {
            state.withLock { $0.queue.remove(id) }?.resume(throwing: CancellationError())
        }
    }

    private func fallAsleep(_ continuation: CheckedContinuation<Void, any Error>, id: Int, until deadline: Duration) {
        enum Next {
            case cancelled, over
            case asleep([CountWaiters.Continuation])
        }
        let next: Next = state.withLock { state in
            // A cancelled task's flag is set before its handler runs: either it is seen here, or the handler will find
            // the sleeper in the queue.
            if Task.isCancelled { return .cancelled }
            if deadline <= state.now { return .over }
            state.queue.insert(continuation, id: id, deadline: deadline)
            return .asleep(state.waiters.reached(state.count))
        }
        switch next {
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .over: continuation.resume()
        case .asleep(let waiters): waiters.forEach { $0.resume() }
        }
    }
}
