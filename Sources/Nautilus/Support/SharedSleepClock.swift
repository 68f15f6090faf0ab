/// A clock whose sleepers share one sleep of the clock underneath: for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of calls long finished. Here a
/// cancelled sleeper leaves nothing behind but one alarm, which rings for whoever sleeps then.
package final class SharedSleepClock<Base: Clock<Duration>>: Clock {
    package typealias Instant = Base.Instant

    private enum Sleeper: Sendable {
        case task(CheckedContinuation<Void, any Error>)
        case alarm(@Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .alarm(let ring): ring()
            }
        }

        func cancel() {
            if case .task(let continuation) = self { continuation.resume(throwing: CancellationError()) }
        }
    }

    private struct State {
        var lastId = 0
        var queue = SleepQueue<Sleeper>()
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
        let id = makeId()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAsleep = fallAsleep(.task(continuation), id: id, until: zero.duration(to: deadline)) {
                    // The flag is set before the handler runs: it is seen here, or the handler finds the sleeper.
                    Task.isCancelled
                }
                if !isAsleep { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancelAlarm(id)
        }
    }

    /// Puts a sleeper into the queue; false when `isCancelled` says that it has been cancelled before.
    private func fallAsleep(
        _ sleeper: Sleeper,
        id: Int,
        until deadline: Duration,
        unless isCancelled: () -> Bool = { false }
    ) -> Bool {
        state.withLock { state in
            if isCancelled() { return false }
            state.queue.insert(sleeper, id: id, deadline: deadline)
            // The alarm that is set rings early enough.
            if let alarm = state.alarm, alarm <= deadline { return true }
            state.alarm = deadline
            setAlarm(deadline)
            return true
        }
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
            var due: [Sleeper] = []
            while let deadline = state.queue.nextDeadline, deadline <= now, let sleeper = state.queue.popFirst() {
                due.append(sleeper)
            }
            guard state.alarm == time else { return (due, Duration?.none) }
            state.alarm = state.queue.nextDeadline
            return (due, state.alarm)
        }
        due.forEach { $0.wake() }
        return next
    }
}

extension SharedSleepClock: AlarmClock {
    package func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let id = makeId()
        _ = fallAsleep(.alarm(ring), id: id, until: zero.duration(to: base.now) + delay)
        return id
    }

    package func cancelAlarm(_ id: Int) {
        state.withLock { $0.queue.remove(id) }?.cancel()
    }

    private func makeId() -> Int {
        state.withLock { state in
            state.lastId += 1
            return state.lastId
        }
    }
}

/// A clock that calls back, which costs no task: for timeouts of calls that come by the thousand.
package protocol AlarmClock: Sendable {
    /// Calls `ring` after `delay`, unless the alarm is cancelled before.
    ///
    /// - Returns: What to cancel it by.
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int
    /// Cancels an alarm; nothing when it has rung.
    func cancelAlarm(_ id: Int)
}

extension Clock<Duration> {
    /// This clock with alarms; nil for a clock of one's own, which is slept on directly: it has no timers of the
    /// runtime, and sees every sleep.
    package var alarms: (any AlarmClock)? {
        switch self {
        case is ContinuousClock: sharedContinuousSleep
        case is SuspendingClock: sharedSuspendingSleep
        default: self as? any AlarmClock
        }
    }
}

private let sharedContinuousSleep = SharedSleepClock(ContinuousClock())
private let sharedSuspendingSleep = SharedSleepClock(SuspendingClock())
