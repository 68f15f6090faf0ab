/// A clock that calls back when a time limit has passed.
///
/// Nearly every call has a time limit, and nearly none reaches it. On a clock that adopts this, a limit costs no task
/// that sleeps; and a clock of tests can tell the delays that it is asked for from the limits, as `ManualClock` does.
/// On a clock that does not, a limit sleeps. The standard library's clocks need not adopt it: they have alarms already.
public protocol AlarmClock: Sendable {
    /// Calls `ring` once after `delay`, on any thread, unless the alarm is cancelled before. It may still ring when it
    /// is cancelled at that moment.
    ///
    /// - Returns: The number to cancel it by.
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int

    /// Cancels an alarm; nothing when it has rung.
    func cancelAlarm(_ id: Int)
}

extension Clock<Duration> {
    /// This clock with alarms; nil when it has none, and in a simulation for a clock that is not the simulation's: its
    /// alarms ring where the simulation does not see them.
    package var alarms: (any AlarmClock)? {
        // Types are compared, not cast to: every attempt with a timeout asks.
        if Self.self == ContinuousClock.self { return BackgroundTask.starter == nil ? sharedContinuousSleep : nil }
        if Self.self == SuspendingClock.self { return BackgroundTask.starter == nil ? sharedSuspendingSleep : nil }
        return self as? any AlarmClock
    }

    /// Sleeps until a time limit of `duration` has passed.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled: nothing is limited any more.
    package func sleep(untilLimitOf duration: Duration) async throws {
        guard let alarms else { return try await sleep(for: duration) }
        let alarm = Locked(SleptAlarm())
        try await alarm.wait { (state, waiter: Waiter<Void>) in
            state.waiter = waiter
        } joined: { _, _ in
            let id = alarms.setAlarm(after: duration) { alarm.withLock { $0.take() }?.resume() }
            // The task has been cancelled meanwhile.
            if alarm.withLock({ $0.isOver(settingTo: id) }) { alarms.cancelAlarm(id) }
        } leave: { state, _ in
            if let id = state.id { alarms.cancelAlarm(id) }
            return state.take()
        }
    }
}

/// A task that sleeps until an alarm rings.
private struct SleptAlarm {
    var waiter: Waiter<Void>?
    private(set) var id: Int?

    mutating func take() -> Waiter<Void>? {
        defer { waiter = nil }
        return waiter
    }

    /// Notes the alarm's number; true when nothing waits for it any more.
    mutating func isOver(settingTo id: Int) -> Bool {
        self.id = id
        return waiter == nil
    }
}

private let sharedContinuousSleep = SharedSleepClock(ContinuousClock())
private let sharedSuspendingSleep = SharedSleepClock(SuspendingClock())
