/// Ends an exchange by a timer, without cancelling the task that waits for it, since that task belongs to the caller.
///
/// Only a task can be cancelled, so a timer would need one more task for each attempt, which costs more than half as
/// much as the rest of the call. A transport that can answer its caller without a cancellation needs none.
package struct Interruption: Sendable {
    /// The occurrence and the timer, in one block of memory since most calls have a timer.
    struct State: Sendable {
        fileprivate var occurrence = Occurrence.awaited(by: nil)
        /// The timer; nil for an interruption without one.
        var timer: Timer?
    }

    fileprivate enum Occurrence: Sendable {
        case awaited(by: (@Sendable () -> Void)?)
        case happened
    }

    /// The state of the timer that triggers the interruption.
    struct Timer: Sendable {
        let alarms: any AlarmClock
        /// The wait that the timer does not count; nil for none.
        let wait: ExchangeProgress?
        /// Whether the exchange that `wait` belongs to is out of time when the timer has passed.
        let isTimeout: Bool
        var id: Int?
        /// The uncounted wait for which the timer has been extended already.
        var madeUp = Duration.zero
        var hasPassed = false
        var isOver = false
    }

    let state: Locked<State>

    /// Creates an interruption that has not occurred, as a test of a transport does.
    package init() {
        state = Locked(State())
    }

    init(by timer: Timer) {
        state = Locked(State(timer: timer))
    }

    /// Sets the handler, in place of any earlier one; it is called when the interruption occurs, or at once if it
    /// already has.
    package func onOccurrence(_ handler: @escaping @Sendable () -> Void) {
        let hasHappened = state.withLock { state in
            guard case .awaited = state.occurrence else { return true }
            state.occurrence = .awaited(by: handler)
            return false
        }
        if hasHappened { handler() }
    }

    /// Releases the handler, which may hold the owner of this interruption.
    package func ignore() {
        state.withLock { state in
            if case .awaited = state.occurrence { state.occurrence = .awaited(by: nil) }
        }
    }

    /// Triggers the interruption, at most once.
    package func occur() {
        let handler = state.withLock { state in
            defer { state.occurrence = .happened }
            if case .awaited(let handler) = state.occurrence { return handler }
            return nil
        }
        handler?()
    }
}
