/// How long an exchange has stood in line for a connection, which its timers do not count.
///
/// Shared by the call, whose timers ask, and the transport, which knows.
final class ConnectionWait: Sendable {
    private struct State {
        /// Since the wait that is on began; nil when none is.
        var current: Stopwatch?
        /// What has been waited before.
        var waited = Duration.zero
    }

    private let clock: any Clock<Duration>
    private let state = Locked(State())

    init(on clock: any Clock<Duration>) {
        self.clock = clock
    }

    func begin() {
        let current = Stopwatch(clock)
        state.withLock { $0.current = current }
    }

    func end() {
        // The clock may be anybody's: it is not asked under the lock.
        let wait = state.withLock { $0.current }?.elapsed ?? .zero
        state.withLock { state in
            state.waited += wait
            state.current = nil
        }
    }

    /// What has been waited in all, a wait that is still on included.
    var waited: Duration {
        let (before, current) = state.withLock { ($0.waited, $0.current) }
        return before + (current?.elapsed ?? .zero)
    }
}
