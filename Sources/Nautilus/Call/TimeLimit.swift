/// Runs `work` and cancels it once `limit` has passed on `clock`.
///
/// - Parameter wait: What the limit does not count; nil for nothing.
/// - Returns: What `work` makes of it, also after the limit: an answer that still arrives is not thrown away.
///   `limitPassed` tells whether the limit ended it.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration,
    on clock: any Clock<Duration>,
    besides wait: ConnectionWait? = nil,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, limitPassed: Bool) {
    // A simulation sees the tasks of its own executor only, and those are the children of its tasks.
    guard let alarms = clock.alarms, BackgroundTask.starter == nil else {
        return await withSleepingLimit(limit, on: clock, besides: wait, work)
    }
    // One task, awaited to its end whatever happens: as good as a child, and the timer costs no second one.
    let isCancelled = Task.isCancelled
    let task = Task.begin {
        // A child would be born cancelled.
        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        return await work()
    }
    let alarm = TimeLimitAlarm(alarms, besides: wait) { task.cancel() }
    alarm.set(after: limit.addable)
    let value = await withTaskCancellationHandler {
        await task.value
    } onCancel: {
        task.cancel()
    }
    return (value, alarm.end())
}

/// The limit on a clock that can only be slept on.
private func withSleepingLimit<Value: Sendable>(
    _ limit: Duration,
    on clock: any Clock<Duration>,
    besides wait: ConnectionWait?,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, limitPassed: Bool) {
    await withTaskGroup(of: Race<Value>.self) { group in
        group.addTask {
            do {
                var left = limit.addable
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
