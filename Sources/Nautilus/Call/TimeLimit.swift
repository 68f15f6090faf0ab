/// How long something may take, and the two ways of ending it.
struct TimeLimit {
    let duration: Duration
    let clock: any Clock<Duration>

    init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration.clampedToCentury
        self.clock = clock
    }

    /// Nil in a simulation, which sees the tasks of its own executor only.
    private var alarms: (any AlarmClock)? { BackgroundTask.starter == nil ? clock.alarms : nil }

    /// Lets an interruption happen once the limit has passed, unless the timer has been ended before; the caller has to
    /// end it.
    ///
    /// - Parameter wait: The wait that the limit does not count; nil for none.
    /// - Returns: Nil for a clock without alarms, and in a simulation, which sees the tasks of its own executor only.
    func interruption(besides wait: ExchangeProgress?) -> (interruption: Interruption, timer: TimeLimitAlarm)? {
        guard let alarms else { return nil }
        let interruption = Interruption()
        let timer = TimeLimitAlarm(alarms, besides: wait, interrupting: interruption)
        timer.set(after: duration)
        return (interruption, timer)
    }

    /// Runs `work` in a task of its own and cancels that once the limit has passed.
    ///
    /// - Parameters:
    ///   - wait: The wait that the limit does not count; nil for none.
    ///   - work: The work to do.
    /// - Returns: The result of `work`, also after the limit: an answer that still arrives is not thrown away.
    ///   `limitPassed` tells whether the limit ended it.
    func cancelling<Value: Sendable>(
        besides wait: ExchangeProgress? = nil,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        guard let alarms else { return await sleeping(besides: wait, work) }
        // One task, awaited to its end whatever happens: as good as a child, and the timer costs no second one.
        let task = Task.begin(work)
        let alarm = TimeLimitAlarm(alarms, besides: wait) {
            wait?.noteTimeout()
            task.cancel()
        }
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
    func timer(besides wait: ExchangeProgress?, _ onPassing: @escaping @Sendable () -> Void) -> () -> Void {
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

    /// Sleeps until the limit has passed; false when cancelled.
    private static func sleep(
        for duration: Duration,
        besides wait: ExchangeProgress?,
        on clock: any Clock<Duration>
    ) async -> Bool {
        var (left, madeUp) = (duration, Duration.zero)
        do {
            while left > .zero {
                try await clock.sleep(untilLimitOf: left)
                let waited = wait?.waited ?? .zero
                (left, madeUp) = (waited - madeUp, waited)
            }
            return true
        } catch {
            return false
        }
    }

    /// The limit on a clock that can only be slept on.
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

/// The timer of one time limit: set again for as long as the exchange has stood in line, and never after its end.
struct TimeLimitAlarm: Sendable {
    private struct State: Sendable {
        /// What happens when the limit has passed.
        let passing: Passing
        let alarms: any AlarmClock
        let wait: ExchangeProgress?
        var id: Int?
        /// The wait that has been made up for.
        var madeUp = Duration.zero
        var hasPassed = false
        var isOver = false
    }

    private enum Passing: Sendable {
        case calls(@Sendable () -> Void)
        /// It is known as a timeout before it happens.
        case interrupts(Interruption)
    }

    // All of it in one block of memory, which the alarm and the caller share.
    private let state: Locked<State>

    init(_ alarms: any AlarmClock, besides wait: ExchangeProgress?, onPassing: @escaping @Sendable () -> Void) {
        state = Locked(State(passing: .calls(onPassing), alarms: alarms, wait: wait))
    }

    /// A timer that lets `interruption` happen, and has it known as a timeout.
    init(_ alarms: any AlarmClock, besides wait: ExchangeProgress?, interrupting interruption: Interruption) {
        state = Locked(State(passing: .interrupts(interruption), alarms: alarms, wait: wait))
    }

    func set(after delay: Duration) {
        let alarms = state.withLock { $0.alarms }
        let id = alarms.setAlarm(after: delay) { ring() }
        let isOver = state.withLock { state in
            state.id = id
            return state.isOver
        }
        // The work has ended meanwhile.
        if isOver { alarms.cancelAlarm(id) }
    }

    /// Ends the timer; true when the limit had passed.
    func end() -> Bool {
        let (alarms, id, hasPassed) = state.withLock { state in
            state.isOver = true
            return (state.alarms, state.id, state.hasPassed)
        }
        if let id { alarms.cancelAlarm(id) }
        return hasPassed
    }

    private func ring() {
        let (wait, passing) = state.withLock { ($0.wait, $0.passing) }
        let waited = wait?.waited ?? .zero
        let missing = state.withLock { state in
            defer { state.madeUp = waited }
            return waited - state.madeUp
        }
        guard missing <= .zero else { return set(after: missing) }
        let isOver = state.withLock { state in
            if !state.isOver { state.hasPassed = true }
            return state.isOver
        }
        guard !isOver else { return }
        switch passing {
        case .calls(let onPassing):
            onPassing()
        case .interrupts(let interruption):
            wait?.noteTimeout()
            interruption.occur()
        }
    }
}
