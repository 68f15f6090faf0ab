/// How far an exchange has come: what only the transport knows, and the call's timers and records ask for.
final class ExchangeProgress: Sendable {
    private struct State {
        /// Since the wait for a connection that is on began; nil when none is.
        var current: Stopwatch?
        /// What has been waited for a connection before.
        var waited = Duration.zero
        /// How long the answer's header took, without the wait for a connection; nil while it has not come.
        var header: Duration?
        /// Since the request was handed to the transport.
        var sending: Stopwatch
        /// What had been waited before the sending.
        var waitedBefore = Duration.zero
        var isOutOfTime = false
    }

    private let clock: any Clock<Duration>
    private let state: Locked<State>

    init(on clock: any Clock<Duration>) {
        self.clock = clock
        self.state = Locked(State(sending: Stopwatch(clock)))
    }

    /// Another request is handed to the transport: the next hop of a redirect.
    func beginSending() {
        let sending = Stopwatch(clock)
        state.withLock { state in
            (state.sending, state.header, state.waitedBefore) = (sending, nil, state.waited)
        }
    }

    func beginWaiting() {
        let current = Stopwatch(clock)
        state.withLock { $0.current = current }
    }

    func endWaiting() {
        // The clock may be anybody's: it is not asked under the lock.
        let wait = state.withLock { $0.current }?.elapsed ?? .zero
        state.withLock { state in
            state.waited += wait
            state.current = nil
        }
    }

    func noteHeader() {
        let elapsed = state.withLock { $0.sending }.elapsed
        state.withLock { state in
            if state.header == nil { state.header = max(.zero, elapsed - (state.waited - state.waitedBefore)) }
        }
    }

    /// The attempt's timeout has passed.
    func noteTimeout() {
        state.withLock { $0.isOutOfTime = true }
    }

    /// Whether the attempt's timeout has ended the exchange.
    var isOutOfTime: Bool { state.withLock { $0.isOutOfTime } }

    /// What has been waited for a connection in all, a wait that is still on included.
    var waited: Duration {
        let (before, current) = state.withLock { ($0.waited, $0.current) }
        return before + (current?.elapsed ?? .zero)
    }

    /// Of the request that was handed to the transport last: when its answer's header came, nil when nobody told, and how
    /// long it waited for a connection.
    var ofThisSending: (header: Duration?, waited: Duration) {
        state.withLock { ($0.header, $0.waited - $0.waitedBefore) }
    }
}
