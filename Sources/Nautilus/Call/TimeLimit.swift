/// How long something may take, and the two ways of ending it.
struct TimeLimit {
    let duration: Duration
    let clock: any Clock<Duration>

    init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration.addable
        self.clock = clock
    }

    /// Whether ``interrupting(besides:_:)`` works here: on a clock with alarms, outside of a simulation, which sees the
    /// tasks of its own executor only.
    var canInterrupt: Bool { alarms != nil }

    private var alarms: (any AlarmClock)? { BackgroundTask.starter == nil ? clock.alarms : nil }

    /// Runs `work` in the caller's task, and lets the interruption happen once the limit has passed.
    ///
    /// - Parameters:
    ///   - wait: What the limit does not count; nil for nothing.
    ///   - work: What heeds the interruption.
    /// - Returns: What `work` makes of it; `limitPassed` tells whether the limit ended it.
    func interrupting<Value>(
        besides wait: ConnectionWait?,
        _ work: (Interruption) async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        let interruption = Interruption()
        guard let alarms else { return (await work(interruption), false) }
        let alarm = TimeLimitAlarm(alarms, besides: wait) { interruption.occur() }
        alarm.set(after: duration)
        let value = await work(interruption)
        return (value, alarm.end())
    }

    /// Runs `work` in a task of its own and cancels that once the limit has passed.
    ///
    /// - Parameters:
    ///   - wait: What the limit does not count; nil for nothing.
    ///   - work: What is to be done.
    /// - Returns: What `work` makes of it, also after the limit: an answer that still arrives is not thrown away.
    ///   `limitPassed` tells whether the limit ended it.
    func cancelling<Value: Sendable>(
        besides wait: ConnectionWait? = nil,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        guard let alarms else { return await sleeping(besides: wait, work) }
        // One task, awaited to its end whatever happens: as good as a child, and the timer costs no second one.
        let isCancelled = Task.isCancelled
        let task = Task.begin {
            // A child would be born cancelled.
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return await work()
        }
        let alarm = TimeLimitAlarm(alarms, besides: wait) { task.cancel() }
        alarm.set(after: duration)
        let value = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return (value, alarm.end())
    }

    /// The limit on a clock that can only be slept on.
    private func sleeping<Value: Sendable>(
        besides wait: ConnectionWait?,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, limitPassed: Bool) {
        await withTaskGroup(of: Race<Value>.self) { group in
            group.addTask { [duration, clock] in
                do {
                    var left = duration
                    while left > .zero {
                        try await clock.sleep(for: left)
                        left = wait?.takeWaited() ?? .zero
                    }
                    return .limitPassed
                } catch {
                    return .timerCancelled
                }
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

extension Task where Failure == Never {
    /// A task that begins on the caller's thread, where the system knows of that: a request that is under way in
    /// microseconds wakes no other thread for it.
    fileprivate static func begin(_ operation: @escaping @Sendable () async -> Success) -> Task {
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(operation: operation)
            }
        #endif
        return Task(operation: operation)
    }
}

private enum Race<Value: Sendable>: Sendable {
    case finished(Value)
    case limitPassed
    case timerCancelled
}
