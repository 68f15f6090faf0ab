import Foundation

/// The progress of an exchange, as its transport reports it to the call's timers and records.
package struct ExchangeProgress: Sendable {
    private struct State {
        /// When the exchange began.
        let start: Duration
        /// When the current wait for a connection began; nil when there is none.
        var waitStart: Duration?
        /// The sum of the earlier waits for a connection.
        var waited = Duration.zero
        /// When the request was handed to the transport.
        var sendingStart: Duration
        /// The part of `waited` from before the request was handed to the transport.
        var waitedBefore = Duration.zero
        /// How long the answer's header took, without the wait for a connection; nil until it has arrived.
        var header: Duration?
        /// How the exchange got its connection; nil until that is reported.
        var connection: CallTrace.Exchange.Connection?
        /// The answer as far as it has arrived; nil if its transport has not noted it.
        var answer: HttpResponse<Data>?
        /// Whether the transport has promised to report when it writes, and has not done so yet.
        var isConnecting = false
        /// When the last part of the body was sent; nil if none has been.
        var lastPart: Duration?
        var isOutOfTime = false
    }

    private let stopwatch: Stopwatch
    private let state: Locked<State>

    /// - Parameter stopwatch: The call's stopwatch.
    package init(_ stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
        let now = stopwatch.elapsed
        self.state = Locked(State(start: now, sendingStart: now))
    }

    /// Notes that the exchange begins only now: the time in a queue before it is not part of it.
    package func begin() {
        let now = stopwatch.elapsed
        state.withLock { $0 = State(start: now, sendingStart: now) }
    }

    /// Notes that another request, the next hop of a redirect, is handed to the transport.
    package func beginSending() {
        let now = stopwatch.elapsed
        state.withLock { state in
            (state.sendingStart, state.header, state.waitedBefore) = (now, nil, state.waited)
            (state.connection, state.isConnecting, state.answer) = (nil, false, nil)
        }
    }

    func beginWaiting() {
        let now = stopwatch.elapsed
        state.withLock { $0.waitStart = now }
    }

    func endWaiting() {
        // The clock may be the user's own, so it is not read under the lock.
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

    /// Whether certainly nothing has been written of the request that was handed to the transport last.
    package var isUnsent: Bool { state.withLock { $0.isConnecting } }

    func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        state.withLock { $0.connection = connection }
    }

    func noteAnswer(_ response: HttpResponse<Data>) {
        state.withLock { $0.answer = response }
    }

    /// The answer to the request that was handed to the transport last, as far as it has arrived; nil if its transport
    /// has not noted it.
    package var answer: HttpResponse<Data>? { state.withLock { $0.answer } }

    func noteHeader() {
        let now = stopwatch.elapsed
        state.withLock { state in
            guard state.header == nil else { return }
            state.header = max(.zero, now - state.sendingStart - (state.waited - state.waitedBefore))
        }
    }

    /// Notes that a part of the body has been sent.
    package func notePart() {
        let now = stopwatch.elapsed
        state.withLock { $0.lastPart = now }
    }

    /// Notes that the attempt's timeout has passed.
    func noteTimeout() {
        state.withLock { $0.isOutOfTime = true }
    }

    /// Whether the attempt's timeout has ended the exchange.
    package var isOutOfTime: Bool { state.withLock { $0.isOutOfTime } }

    /// The time that the timeout does not count: all waits for a connection, including the current one, or, if longer,
    /// the whole time until the last part of the body was sent.
    package var uncounted: Duration {
        let state = state.withLock { $0 }
        let waited = state.waited + (state.waitStart.map { stopwatch.elapsed - $0 } ?? .zero)
        return max(waited, state.lastPart.map { $0 - state.start } ?? .zero)
    }

    /// The facts about the last request handed to the transport: how long the answer's header took and how the request
    /// got its connection, nil when not reported, and how long it waited for the connection.
    ///
    /// - Parameter now: The time since the call began.
    package func ofThisSending(
        _ now: Duration
    ) -> (header: Duration?, waited: Duration, connection: CallTrace.Exchange.Connection?) {
        state.withLock { state in
            let current = state.waitStart.map { now - $0 } ?? .zero
            return (state.header, state.waited + current - state.waitedBefore, state.connection)
        }
    }
}
