/// A clock whose sleepers share one sleep of the clock underneath: for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of calls long finished. Here a
/// cancelled sleeper leaves nothing behind but one alarm, which rings for whoever sleeps then.
package final class SharedSleepClock<Base: Clock<Duration>>: Clock {
    package typealias Instant = Base.Instant

    private struct State {
        var lastId = 0
        var queue = SleepQueue()
        /// When the next alarm rings, counted from ``zero``; nil when none is set.
        var alarm: Duration?
    }

    private let base: Base
    private let zero: Instant
    private let state = Locked(State())

    package init(_ base: Base) {
        self.base = base
        self.zero = base.now
    }

    package var now: Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.queue.count } }

    /// Sleeps until `deadline`.
    ///
    /// - Parameter tolerance: Ignored: the alarm is shared with sleepers that may have none.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.lastId += 1
            return state.lastId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { fallAsleep($0, id: id, until: zero.duration(to: deadline)) }
        } onCancel: {
            state.withLock { $0.queue.remove(id) }?.resume(throwing: CancellationError())
        }
    }

    private func fallAsleep(_ continuation: SleepQueue.Continuation, id: Int, until deadline: Duration) {
        let isCancelled = state.withLock { state in
            // The flag is set before the handler runs: it is seen here, or the handler finds the sleeper.
            if Task.isCancelled { return true }
            state.queue.insert(continuation, id: id, deadline: deadline)
            // The alarm that is set rings early enough.
            if let alarm = state.alarm, alarm <= deadline { return false }
            state.alarm = deadline
            setAlarm(deadline)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
    }

    /// Wakes who is due at `time`, then at the next deadline, and so on until nobody sleeps.
    ///
    /// The task is detached and no `BackgroundTask`: it serves the calls of the whole process, and must not end with
    /// the one that happened to start it.
    private func setAlarm(_ time: Duration) {
        Task.detached(priority: .high) { [self] in
            var next: Duration? = time
            while let time = next {
                // It fails only when cancelled, which nobody does.
                try? await base.sleep(until: zero.advanced(by: time), tolerance: nil)
                next = ring(at: time)
            }
        }
    }

    /// Wakes who is due.
    ///
    /// - Returns: When to ring again; nil when nobody sleeps, or when another alarm was set for an earlier time. One
    ///   that was overtaken rings for nothing: cancelling it would free its timer no sooner.
    private func ring(at time: Duration) -> Duration? {
        let now = max(time, zero.duration(to: base.now))
        let (due, next) = state.withLock { state in
            var due: [SleepQueue.Continuation] = []
            while let deadline = state.queue.nextDeadline, deadline <= now, let sleeper = state.queue.popFirst() {
                due.append(sleeper)
            }
            guard state.alarm == time else { return (due, Duration?.none) }
            state.alarm = state.queue.nextDeadline
            return (due, state.alarm)
        }
        due.forEach { $0.resume() }
        return next
    }
}

extension Clock<Duration> {
    /// This clock, for sleeps that are nearly always cancelled.
    ///
    /// A clock of one's own is slept on directly: it has no timers of the runtime, and sees every sleep.
    package var forTimeouts: any Clock<Duration> {
        switch self {
        case is ContinuousClock: sharedContinuousSleep
        case is SuspendingClock: sharedSuspendingSleep
        default: self
        }
    }
}

private let sharedContinuousSleep = SharedSleepClock(ContinuousClock())
private let sharedSuspendingSleep = SharedSleepClock(SuspendingClock())
