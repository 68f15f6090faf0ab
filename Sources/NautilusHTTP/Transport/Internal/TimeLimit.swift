/// A limit on how long something may take, with two ways of ending it: by an interruption, or by cancelling its task.
package struct TimeLimit {
    package let duration: Duration
    let clock: any Clock<Duration>

    package init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration.clampedToCentury
        self.clock = clock
    }

    /// The clock's alarms; nil in a simulation, which sees only the tasks of its own executor.
    private var alarms: (any AlarmClock)? { SimulatedSystem.current == nil ? clock.alarms : nil }

    /// Creates a timer that triggers its interruption once the limit has passed, unless it has been ended before; the
    /// caller has to end it.
    ///
    /// - Parameter wait: The wait that the limit does not count; nil for none.
    /// - Returns: Nil for a clock without alarms, and in a simulation, which sees only the tasks of its own executor.
    package func alarm(besides wait: ExchangeProgress?) -> TimeLimitAlarm? {
        guard let alarms else { return nil }
        let alarm = TimeLimitAlarm(alarms, besides: wait, isTimeout: true)
        alarm.set(after: duration)
        return alarm
    }

    /// Runs `work` in a task of its own and cancels the task once the limit has passed.
    ///
    /// - Parameters:
    ///   - wait: The wait that the limit does not count; nil for none.
    ///   - work: The work to do.
    /// - Returns: The result of `work`, even after the limit: an answer that still arrives is not thrown away.
    ///   `limitPassed` tells whether the limit was passed.
    package func cancelling<Value: Sendable>(
        besides wait: ExchangeProgress? = nil,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        guard let alarms else { return await sleeping(besides: wait, work) }
        // One task, which is always awaited to its end: it is as good as a child task, and the timer needs no second
        // task.
        let task = Task.begin(work)
        let alarm = TimeLimitAlarm(alarms, besides: wait, isTimeout: true)
        alarm.interruption.onOccurrence { task.cancel() }
        alarm.set(after: duration)
        let value = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return (value, alarm.end())
    }

    /// Calls `onPassing` once the limit has passed, unless the timer has been ended before.
    ///
    /// - Returns: A closure that ends the timer; the caller has to call it.
    package func timer(besides wait: ExchangeProgress?, _ onPassing: @escaping @Sendable () -> Void)
        -> @Sendable () -> Void
    {
        guard let alarms else {
            let task = BackgroundTask.branch { [duration, clock] in
                if await Self.sleep(for: duration, besides: wait, on: clock) { onPassing() }
            }
            return { task.cancel() }
        }
        let alarm = TimeLimitAlarm(alarms, besides: wait, onPassing: onPassing)
        alarm.set(after: duration)
        return { _ = alarm.end() }
    }

    /// Sleeps until the limit has passed; returns false when cancelled.
    private static func sleep(
        for duration: Duration,
        besides wait: ExchangeProgress?,
        on clock: any Clock<Duration>
    ) async -> Bool {
        var (left, madeUp) = (duration, Duration.zero)
        do {
            while left > .zero {
                try await clock.sleep(untilLimitOf: left)
                let uncounted = wait?.uncounted ?? .zero
                (left, madeUp) = (uncounted - madeUp, uncounted)
            }
            return true
        } catch {
            return false
        }
    }

    /// Enforces the limit on a clock that has no alarms and can only be slept on.
    private func sleeping<Value: Sendable>(
        besides wait: ExchangeProgress?,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        await withTaskGroup(of: Race<Value>.self) { group in
            group.addTask { [duration, clock] in
                await Self.sleep(for: duration, besides: wait, on: clock) ? .limitPassed : .timerCancelled
            }
            group.addTask { .finished(await work()) }
            var limitPassed = false
            while true {
                switch await group.next() {
                case .finished(let value):
                    group.cancelAll()
                    return (value, limitPassed)
                case .limitPassed:
                    limitPassed = true
                    wait?.noteTimeout()
                    group.cancelAll()
                case .timerCancelled:
                    break
                case nil:
                    // Both children report once, and the first report of `work` returns.
                    preconditionFailure("the group ended without the work's value")
                }
            }
        }
    }
}

private enum Race<Value: Sendable>: Sendable {
    case finished(Value)
    case limitPassed
    case timerCancelled
}

/// The timer of one time limit: set again to make up for time that does not count, and never set after its end.
package struct TimeLimitAlarm: Sendable {
    /// The interruption that occurs when the limit has passed.
    package let interruption: Interruption

    /// - Parameters:
    ///   - alarms: The clock.
    ///   - wait: The progress of the exchange whose wait for a connection does not count; nil for none.
    ///   - isTimeout: Whether the exchange counts as out of time when the limit has passed.
    init(_ alarms: any AlarmClock, besides wait: ExchangeProgress?, isTimeout: Bool) {
        interruption = Interruption(by: Interruption.Timer(alarms: alarms, wait: wait, isTimeout: isTimeout))
    }

    /// Creates a timer that does something other than end the exchange.
    init(_ alarms: any AlarmClock, besides wait: ExchangeProgress?, onPassing: @escaping @Sendable () -> Void) {
        self.init(alarms, besides: wait, isTimeout: false)
        interruption.onOccurrence(onPassing)
    }

    func set(after delay: Duration) {
        let alarms = interruption.state.withLock { $0.timer?.alarms }
        guard let id = alarms?.setAlarm(after: delay, ring) else { return }
        let isOver = interruption.state.withLock { state in
            state.timer?.id = id
            return state.timer?.isOver ?? false
        }
        // The work ended meanwhile.
        if isOver { alarms?.cancelAlarm(id) }
    }

    /// Ends the timer; true when the limit had passed.
    package func end() -> Bool {
        let timer = interruption.state.withLock { state in
            state.timer?.isOver = true
            return state.timer
        }
        guard let timer else { return false }
        if let id = timer.id { timer.alarms.cancelAlarm(id) }
        return timer.hasPassed
    }

    @Sendable private func ring() {
        let uncounted = interruption.state.withLock { $0.timer?.wait }?.uncounted ?? .zero
        let missing = interruption.state.withLock { state in
            defer { state.timer?.madeUp = uncounted }
            return uncounted - (state.timer?.madeUp ?? .zero)
        }
        guard missing <= .zero else { return set(after: missing) }
        let timer = interruption.state.withLock { state in
            if state.timer?.isOver == false { state.timer?.hasPassed = true }
            return state.timer
        }
        guard let timer, !timer.isOver else { return }
        if timer.isTimeout { timer.wait?.noteTimeout() }
        interruption.occur()
    }
}
