/// How long an exchange has stood in line for a connection, which its timers do not count.
///
/// Shared by the call, whose timers ask, and the transport, which knows.
final class ConnectionWait: Sendable {
    private struct State {
        /// When the wait that is on began; nil when none is.
        var began: Duration?
        /// What has been waited before.
        var waited = Duration.zero
    }

    private let stopwatch: Stopwatch
    private let state = Locked(State())

    init(on clock: any Clock<Duration>) {
        stopwatch = Stopwatch(clock)
    }

    func begin() {
        let now = stopwatch.elapsed
        state.withLock { $0.began = now }
    }

    func end() {
        let now = stopwatch.elapsed
        state.withLock { state in
            state.waited += state.began.map { now - $0 } ?? .zero
            state.began = nil
        }
    }

    /// What has been waited in all, a wait that is still on included.
    var waited: Duration {
        let now = stopwatch.elapsed
        return state.withLock { $0.waited + ($0.began.map { now - $0 } ?? .zero) }
    }
}
