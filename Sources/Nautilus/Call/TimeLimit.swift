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
    await withTaskGroup(of: Race<Value>.self) { group in
        group.start {
            do {
                var left = limit.addable
                while left > .zero {
                    try await clock.forTimeouts.sleep(for: left)
                    left = wait?.takeWaited() ?? .zero
                }
                return .limitPassed
            } catch {
                return .timerCancelled
            }
        }
        group.start { .finished(await work()) }
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

extension TaskGroup {
    /// Adds a task that begins on the caller's thread, where the system knows of that: a timer or a request that is under
    /// way in microseconds wakes no other thread for it.
    fileprivate mutating func start(_ operation: @escaping @Sendable () async -> ChildTaskResult) {
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                addImmediateTask(operation: operation)
                return
            }
        #endif
        addTask(operation: operation)
    }
}

private enum Race<Value: Sendable>: Sendable {
    case finished(Value)
    case limitPassed
    case timerCancelled
}
