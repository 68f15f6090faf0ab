/// The interruption of an exchange by a timer, without cancelling the task that waits for it, which belongs to the
/// caller.
///
/// Only a task can be cancelled, so a timer would need one more for each attempt, which costs more than half as much as
/// the rest of the call. A transport that answers its caller by itself needs none.
public struct Interruption: Sendable {
    /// Both in one block of memory, since most calls have a timer.
    struct State: Sendable {
        fileprivate var occurrence = Occurrence.awaited(by: nil)
        /// Nil for one without a timer.
        var timer: Timer?
    }

    fileprivate enum Occurrence: Sendable {
        case awaited(by: (@Sendable () -> Void)?)
        case happened
    }

    /// The state of the timer that lets it happen.
    struct Timer: Sendable {
        let alarms: any AlarmClock
        /// The wait that it does not count; nil for none.
        let wait: ExchangeProgress?
        /// Whether the exchange, whose wait that is, is out of time when it has passed.
        let isTimeout: Bool
        var id: Int?
        /// The wait that has been made up for.
        var madeUp = Duration.zero
        var hasPassed = false
        var isOver = false
    }

    let state: Locked<State>

    /// Creates one that has not happened, as a test of a transport does.
    public init() {
        state = Locked(State())
    }

    init(by timer: Timer) {
        state = Locked(State(timer: timer))
    }

    /// Calls `handler` when it happens, in place of the handler before; at once when it has happened.
    public func onOccurrence(_ handler: @escaping @Sendable () -> Void) {
        let hasHappened = state.withLock { state in
            guard case .awaited = state.occurrence else { return true }
            state.occurrence = .awaited(by: handler)
            return false
        }
        if hasHappened { handler() }
    }

    /// Forgets the handler, which may hold the owner of this.
    public func ignore() {
        state.withLock { state in
            if case .awaited = state.occurrence { state.occurrence = .awaited(by: nil) }
        }
    }

    /// Lets it happen, once.
    public func occur() {
        let handler = state.withLock { state in
            defer { state.occurrence = .happened }
            if case .awaited(let handler) = state.occurrence { return handler }
            return nil
        }
        handler?()
    }
}
