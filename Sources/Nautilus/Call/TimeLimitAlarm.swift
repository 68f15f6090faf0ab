/// The timer of one time limit: set again for as long as the exchange has stood in line, and never after its end.
final class TimeLimitAlarm: Sendable {
    private struct State {
        var id: Int?
        /// The wait that has been made up for.
        var madeUp = Duration.zero
        var hasPassed = false
        var isOver = false
    }

    private let alarms: any AlarmClock
    private let wait: ExchangeProgress?
    private let onPassing: @Sendable () -> Void
    private let state = Locked(State())

    init(_ alarms: any AlarmClock, besides wait: ExchangeProgress?, onPassing: @escaping @Sendable () -> Void) {
        self.alarms = alarms
        self.wait = wait
        self.onPassing = onPassing
    }

    func set(after delay: Duration) {
        let id = alarms.setAlarm(after: delay) { [self] in ring() }
        let isOver = state.withLock { state in
            state.id = id
            return state.isOver
        }
        // The work has ended meanwhile.
        if isOver { alarms.cancelAlarm(id) }
    }

    /// Ends the timer; true when the limit had passed.
    func end() -> Bool {
        let (id, hasPassed) = state.withLock { state in
            state.isOver = true
            return (state.id, state.hasPassed)
        }
        if let id { alarms.cancelAlarm(id) }
        return hasPassed
    }

    private func ring() {
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
        if !isOver { onPassing() }
    }
}
