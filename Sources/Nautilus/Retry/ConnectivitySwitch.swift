/// Connectivity that is set from outside: by a test, or by a monitor of the network that the system does not have.
///
/// ```swift
/// let connectivity = ConnectivitySwitch(isOnline: false)
/// connectivity.set(isOnline: true)  // whoever waits for it goes on
/// ```
public final class ConnectivitySwitch: Connectivity {
    private struct State {
        var isOnline: Bool
        var waiters = WaitingLine<Waiter<Void>>()
    }

    private let state: Locked<State>

    /// Creates a switch.
    ///
    /// - Parameter isOnline: The state until it is set. Default: true, so that a switch that is never set holds up no
    ///   call.
    public init(isOnline: Bool = true) {
        state = Locked(State(isOnline: isOnline))
    }

    /// The state that was set last.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// How many wait now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Sets the state; all waiting calls go on when it is true.
    public func set(isOnline: Bool) {
        let waiters = state.withLock { state in
            state.isOnline = isOnline
            return isOnline ? state.waiters.removeAll() : []
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns when it is told that the device is online; at once when it was.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        try await state.wait { state, waiter in
            if !state.isOnline { state.waiters.append(waiter) }
            return state.isOnline
        } joined: { isOnline, waiter in
            if isOnline { waiter.resume() }
        } leave: { state, id in
            state.waiters.remove(id)
        }
    }
}
