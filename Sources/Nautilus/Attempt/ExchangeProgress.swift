/// How far an exchange has come: known to the transport alone, and needed by the call's timers and records.
final class ExchangeProgress: Sendable {
    private struct State {
        /// When the wait for a connection that is on began; nil when none is.
        var waitStart: Duration?
        /// The earlier waits for a connection, added up.
        var waited = Duration.zero
        /// When the request was handed to the transport.
        var sendingStart: Duration
        /// The same, up to the sending.
        var waitedBefore = Duration.zero
        /// How long the answer's header took, without the wait for a connection; nil while it has not come.
        var header: Duration?
        /// How it has come to its connection; nil while that is not reported.
        var connection: CallTrace.Exchange.Connection?
        /// Whether the transport is to tell when it writes, and has not.
        var isConnecting = false
        var isOutOfTime = false
    }

    private let stopwatch: Stopwatch
    private let state: Locked<State>

    /// - Parameter stopwatch: The call's.
    init(_ stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
        self.state = Locked(State(sendingStart: stopwatch.elapsed))
    }

    /// Another request is handed to the transport: the next hop of a redirect.
    func beginSending() {
        let now = stopwatch.elapsed
        state.withLock { state in
            (state.sendingStart, state.header, state.waitedBefore) = (now, nil, state.waited)
            (state.connection, state.isConnecting) = (nil, false)
        }
    }

    func beginWaiting() {
        let now = stopwatch.elapsed
        state.withLock { $0.waitStart = now }
    }

    func endWaiting() {
        // The clock may be the user's own: it is not asked under the lock.
        let now = stopwatch.elapsed
        state.withLock { state in
            state.waited += state.waitStart.map { now - $0 } ?? .zero
            state.waitStart = nil
        }
    }

    func beginConnecting() {
        state.withLock { $0.isConnecting = true }
    }

    func noteSending() {
        state.withLock { $0.isConnecting = false }
    }

    /// Whether it is certain that nothing of the request that was handed to the transport last has been written.
    var isUnsent: Bool { state.withLock { $0.isConnecting } }

    func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        state.withLock { $0.connection = connection }
    }

    func noteHeader() {
        let now = stopwatch.elapsed
        state.withLock { state in
            guard state.header == nil else { return }
            state.header = max(.zero, now - state.sendingStart - (state.waited - state.waitedBefore))
        }
    }

    /// The attempt's timeout has passed.
    func noteTimeout() {
        state.withLock { $0.isOutOfTime = true }
    }

    /// Whether the attempt's timeout has ended the exchange.
    var isOutOfTime: Bool { state.withLock { $0.isOutOfTime } }

    /// The time waited for a connection in all, a wait that is still on included.
    var waited: Duration {
        let (before, start) = state.withLock { ($0.waited, $0.waitStart) }
        return before + (start.map { stopwatch.elapsed - $0 } ?? .zero)
    }

    /// Of the request that was handed to the transport last: when its answer's header came and how it got its
    /// connection, nil when not reported, and how long it waited for one.
    var ofThisSending: (header: Duration?, waited: Duration, connection: CallTrace.Exchange.Connection?) {
        let now = stopwatch.elapsed
        return state.withLock { state in
            let current = state.waitStart.map { now - $0 } ?? .zero
            return (state.header, state.waited + current - state.waitedBefore, state.connection)
        }
    }
}
