/// Runs `work` and cancels it once `limit` has passed on `clock`.
///
/// - Returns: What `work` makes of it, also after the limit: an answer that still arrives is not thrown away.
///   `limitPassed` tells whether the limit ended it.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration,
    on clock: any Clock<Duration>,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, limitPassed: Bool) {
    await withTaskGroup(of: Race<Value>.self) { group in
        group.addTask { .finished(await work()) }
        group.addTask {
            do {
                try await clock.forTimeouts.sleep(for: limit)
                return .limitPassed
            } catch {
                return .timerCancelled
            }
        }
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

private enum Race<Value: Sendable>: Sendable {
    case finished(Value)
    case limitPassed
    case timerCancelled
}
