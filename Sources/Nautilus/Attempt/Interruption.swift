/// The interruption of an exchange by a timer, without cancelling the task that waits for it, which belongs to the
/// caller.
///
/// Only a task can be cancelled, so a timer would need one more for each attempt, which costs more than half as much as
/// the rest of the call. A transport that answers its caller by itself needs none.
public struct Interruption: Sendable {
    private enum State {
        case awaited(by: (@Sendable () -> Void)?)
        case happened
    }

    private let state = Locked(State.awaited(by: nil))

    /// Creates one that has not happened, as a test of a transport does.
    public init() {}

    /// Calls `handler` when it happens, in place of the handler before; at once when it has happened.
    public func onOccurrence(_ handler: @escaping @Sendable () -> Void) {
        let hasHappened = state.withLock { state in
            guard case .awaited = state else { return true }
            state = .awaited(by: handler)
            return false
        }
        if hasHappened { handler() }
    }

    /// Forgets the handler, which may hold the owner of this.
    public func ignore() {
        state.withLock { state in
            if case .awaited = state { state = .awaited(by: nil) }
        }
    }

    /// Lets it happen, once.
    public func occur() {
        let handler = state.withLock { state in
            defer { state = .happened }
            if case .awaited(let handler) = state { return handler }
            return nil
        }
        handler?()
    }
}
