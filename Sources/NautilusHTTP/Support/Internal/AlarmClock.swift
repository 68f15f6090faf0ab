/// A clock that calls back when a time limit has passed.
///
/// Nearly every call has a time limit, and almost none reaches it. On a clock that adopts this protocol, a limit needs
/// no sleeping task, and a clock for tests can tell delays from limits, as `ManualClock` does. On any other clock, a
/// task sleeps for each limit. The standard library's clocks need not adopt the protocol, since the package has alarms
/// for them.
package protocol AlarmClock: Sendable {
    /// Calls `ring` once after `delay`, on any thread, unless the alarm is cancelled before. An alarm that is cancelled
    /// just as it is due may still ring.
    ///
    /// - Returns: The number by which to cancel the alarm.
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int

    /// Cancels an alarm; does nothing if it has rung.
    func cancelAlarm(_ id: Int)
}

extension Clock<Duration> {
    /// The alarms of this clock; nil if it has none, and in a simulation for the standard library's clocks, whose
    /// alarms the simulation would not see.
    var alarms: (any AlarmClock)? {
        // Types are compared rather than cast, since every attempt with a timeout comes here.
        if Self.self == ContinuousClock.self { return SimulatedSystem.current == nil ? sharedContinuousSleep : nil }
        if Self.self == SuspendingClock.self { return SimulatedSystem.current == nil ? sharedSuspendingSleep : nil }
        return self as? any AlarmClock
    }

    /// Sleeps until a time limit of `duration` has passed.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled, since then nothing is left to
    ///   limit.
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

    /// Notes the alarm's number; returns true if nothing waits for the alarm any more.
    mutating func isOver(settingTo id: Int) -> Bool {
        self.id = id
        return waiter == nil
    }
}

private let sharedContinuousSleep = SharedSleepClock(ContinuousClock())
private let sharedSuspendingSleep = SharedSleepClock(SuspendingClock())
