/// A clock whose sleepers share one sleep of the clock underneath: for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of calls long finished. Here a
/// cancelled sleeper leaves nothing behind but one alarm, which rings for the sleepers of that time.
package final class SharedSleepClock<Base: Clock<Duration>>: Clock {
    package typealias Instant = Base.Instant

    private let base: Base
    private let zero: Instant
    private let state = Locked(SharedSleepers())

    package init(_ base: Base) {
        self.base = base
        self.zero = base.now
    }

    package var now: Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.count } }

    /// Sleeps until `deadline`.
    ///
    /// - Parameter tolerance: Ignored: the alarm is shared with sleepers that may have none.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.makeId() }
        let deadline = zero.duration(to: deadline)
        try await state.wait { state, waiter in
            state.insert(.task(waiter), id: id, until: deadline)
        } joined: { needsAlarm, _ in
            if needsAlarm { setAlarm(deadline) }
        } leave: { state, _ in
            guard case .task(let waiter) = state.remove(id) else { return nil }
            return waiter
        }
    }

    /// Wakes the sleepers that are due at `time`, then at the next deadline, and so on until there are none.
    ///
    /// The task is detached and no `BackgroundTask`: it serves the calls of the whole process, and must not end with
    /// the one that happened to start it.
    private func setAlarm(_ time: Duration) {
        Task.detached(priority: .high) { [self] in
            var next: Duration? = time
            while let time = next {
                // It fails only when cancelled, which never happens.
                try? await base.sleep(until: zero.advanced(by: time), tolerance: nil)
                next = ring(at: time)
            }
        }
    }

    /// Wakes the sleepers that are due.
    ///
    /// - Returns: When to ring again; nil when there are no sleepers, or when another alarm rings early enough.
    private func ring(at time: Duration) -> Duration? {
        let now = max(time, zero.duration(to: base.now))
        let (due, next) = state.withLock { $0.ring(at: time, now: now) }
        due.forEach { $0.wake() }
        return next
    }
}

extension SharedSleepClock: AlarmClock {
    package func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let deadline = zero.duration(to: base.now) + delay
        return state.withLock { state in
            let id = state.makeId()
            if state.insert(.alarm(ring), id: id, until: deadline) { setAlarm(deadline) }
            return id
        }
    }

    package func cancelAlarm(_ id: Int) {
        _ = state.withLock { $0.remove(id) }
    }
}

/// A clock that calls back, which costs no task: for timeouts of calls that come by the thousand.
package protocol AlarmClock: Sendable {
    /// Calls `ring` after `delay`, unless the alarm is cancelled before.
    ///
    /// - Returns: The number to cancel it by.
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int
    /// Cancels an alarm; nothing when it has rung.
    func cancelAlarm(_ id: Int)
}

extension Clock<Duration> {
    /// This clock with alarms; nil for a clock of one's own, which is slept on directly: it has no timers of the
    /// runtime, and sees every sleep.
    package var alarms: (any AlarmClock)? {
        // Types are compared, not cast to: every attempt with a timeout asks.
        if Self.self == ContinuousClock.self { return sharedContinuousSleep }
        if Self.self == SuspendingClock.self { return sharedSuspendingSleep }
        return self as? any AlarmClock
    }
}

private let sharedContinuousSleep = SharedSleepClock(ContinuousClock())
private let sharedSuspendingSleep = SharedSleepClock(SuspendingClock())
