import Nautilus

/// The connections of a stream, one after the other, each a call of its own. For one task at a time.
///
/// This type reconnects by the rules of server-sent events; see the guide `DownloadsAndEvents`. All connections belong
/// to the environment and the session in which this value was created.
/// ```swift
/// while true {
///     let response = try await connections.open(request)
///     let end = await read(response.body) { connections.received() }
///     try await connections.waitForNext(after: end)
/// }
/// ```
/// The service's retrier decides on each end and each failure; `HttpError/isReconnect` is true there.
public struct StreamConnections<R: Request> {
    /// The call that all connections continue; it is not run itself.
    private let calls: CallBinding<R>
    private let limit: ReconnectLimit
    /// The state that keeps the stream going; nil before the first connection is open.
    private var reconnection: StreamReconnection<R>?

    /// Creates the connections of a stream, without opening any.
    ///
    /// - Parameters:
    ///   - request: The request that retriers are asked about.
    ///   - service: The service. For a `ServiceSwitch`, all connections go to the service that is selected now.
    ///   - reconnectLimit: How often and how long to try another connection. Default: none, since a stream is meant to
    ///     last.
    public init(of request: R, with service: some HttpService, reconnectLimit: ReconnectLimit = .none) {
        self.init(of: request, with: service.configuration, reconnectLimit: reconnectLimit)
    }

    package init(of request: R, with configuration: ServiceConfiguration, reconnectLimit: ReconnectLimit = .none) {
        (calls, limit) = (request.bound(to: configuration), reconnectLimit)
    }

    /// The sessions that all connections belong to.
    public var sessions: CallSessions { calls.sessions }

    /// Opens the first connection, or the next one, however many tries that takes.
    ///
    /// - Parameter opening: The request that opens the connection; it may say where the previous one broke off.
    /// - Throws: The failure of the first connection's call; after that, the failure that ends the stream.
    public mutating func open<Opening: Request>(
        _ opening: Opening
    ) async throws(HttpError) -> HttpResponse<Opening.Result> {
        while true {
            let call = calls.continued(with: opening)
            do throws(HttpError) {
                let response = try await call.run(isReconnect: reconnection != nil)
                noteOpening(response.trace)
                return response
            } catch {
                // The first connection, a reader that has left, or another user.
                guard reconnection != nil, !Task.isCancelled, !(call.failure is RefreshError) else { throw error }
                try await reconnection?.waitForNext(after: error)
            }
        }
    }

    private mutating func noteOpening(_ trace: CallTrace) {
        guard reconnection == nil else {
            reconnection?.opened(trace)
            return
        }
        reconnection = StreamReconnection(
            of: calls,
            limit,
            opened: trace,
            Stopwatch(calls.configuration.clock)
        )
    }

    /// Notes that something was received over the connection, so that it has served.
    public mutating func received() { reconnection?.received() }

    /// Returns when it is time to open the next connection.
    ///
    /// - Parameters:
    ///   - end: How the connection ended.
    ///   - delay: How long the server asks to wait before each connection, in addition to the retrier's own delay,
    ///     which keeps clients apart. Default: it does not ask.
    /// - Throws: The end, with its trace, when the retrier does not want another connection, or the limit is reached;
    ///   the retrier's own failure; the cancellation.
    public mutating func waitForNext(after end: HttpError, notBefore delay: Duration = .zero) async throws(HttpError) {
        reconnection?.serverDelay = delay
        try await reconnection?.waitForNext(after: end)
    }
}

extension HttpError {
    /// Creates the error that ends a stream, from a call's own error or one thrown between its calls.
    package init(ending thrown: any Error) {
        self = thrown as? HttpError ?? HttpError(wrapping: thrown, stage: .decode, delivery: .maybeExecuted)
    }
}

/// Keeps a stream going from one connection to the next, as described in ``StreamConnections``.
private struct StreamReconnection<R: Request> {
    private let request: R
    private let configuration: ServiceConfiguration
    private let sessions: CallSessions
    private let limit: ReconnectLimit
    private let stopwatch: Stopwatch
    /// When and how the last connection was opened; nil once it has ended.
    private var connection: (openedAt: Duration, trace: CallTrace, hasReceived: Bool)?
    /// The tries since the last connection that has served; nil while one serves.
    private var outage: StreamOutage?
    /// How long the server asks to wait before each connection.
    var serverDelay = Duration.zero
    /// When the latest connection was begun, and when the next one would be due at a steady pace.
    private var (began, due) = (Duration.zero, Duration.zero)

    /// - Parameters:
    ///   - calls: The call that all connections continue: retriers are asked about its request, and no wait outlives its
    ///     sessions.
    ///   - limit: How often and how long to try another connection.
    ///   - trace: The trace of the call that opened the first connection.
    ///   - stopwatch: Measures the time since then.
    init(
        of calls: CallBinding<R>,
        _ limit: ReconnectLimit,
        opened trace: CallTrace,
        _ stopwatch: Stopwatch
    ) {
        (request, configuration, sessions, self.limit) = (calls.request, calls.configuration, calls.sessions, limit)
        self.stopwatch = stopwatch
        connection = (.zero, trace, false)
    }

    /// Notes that something was received over the connection.
    mutating func received() { connection?.hasReceived = true }

    /// Notes that another connection has been opened.
    mutating func opened(_ trace: CallTrace) { connection = (stopwatch.elapsed, trace, false) }

    /// Returns when it is time to open the next connection.
    ///
    /// - Parameter failure: How the connection ended, or the failure of the call that was to open it.
    /// - Throws: The failure, with its trace, when the retrier does not want another connection, or the limit is
    ///   reached; the retrier's own failure; the cancellation.
    mutating func waitForNext(after failure: HttpError) async throws(HttpError) {
        let loss = lost(failure)
        let outage =
            self.outage
            ?? StreamOutage(
                since: stopwatch.elapsed,
                retrier: configuration.factory(for: request).create(for: request)
            )
        if Task.isCancelled { throw loss.cancelled() }
        let decision = try await decision(of: outage, after: loss)
        let (name, reason) = (outage.retrier.name, outage.retrier.reason)
        if Task.isCancelled { throw loss.cancelled() }

        switch decision {
        case .doNotRetry:
            throw ended(by: loss, .init(retrier: name, action: .stop, reason: reason))
        case .fail(let other):
            let given = CallTrace.Decision(retrier: name, action: .fail, reason: reason ?? other.asReason)
            throw ended(by: loss, given, surfacing: other)
        case .retry(let wanted, let cost, let evenIfExecuted):
            // As in a call: the next connection might execute the request twice.
            if !evenIfExecuted, loss.mustNotBeRepeated {
                throw ended(by: loss, .init(retrier: "StreamConnections", action: .stop, reason: .mayHaveExecuted))
            }
            // A server that is down is asked at most once a second, and a connection that was lost is replaced sooner.
            let least = loss.isOfConnection ? .zero : StreamPace.interval
            let delay = paced(max(least, wanted.clampedToCentury + serverDelay.clampedToCentury))
            let moment = stopwatch.elapsed + delay - outage.start
            if let reason = limit.reasonToStop(after: outage.count, at: moment) {
                throw ended(by: loss, .init(retrier: "StreamConnections", action: .stop, reason: reason))
            }
            if let cost, !cost.pay() {
                throw ended(by: loss, .init(retrier: name, action: .stop, reason: .budget))
            }
            outage.count += 1
            tell(loss, .init(retrier: name, action: .retry(after: delay), reason: reason))
            do {
                if delay > .zero {
                    try await sessions.wait { [clock = configuration.clock] in
                        try await clock.sleep(for: delay)
                    }
                }
                try Task.checkCancellation()
            } catch {
                if !Task.isCancelled, let end = sessions.end { throw loss.final(nil, surfacing: end) }
                throw loss.cancelled()
            }
            self.outage = outage
        }
    }

    /// The retrier's word on a loss; it waits no longer than the sessions last.
    private func decision(of outage: StreamOutage, after loss: StreamLoss) async throws(HttpError) -> RetryDecision {
        do {
            let decision = try await sessions.wait { [request, error = loss.error] in
                await outage.retrier.retry(request, failingWith: error)
            }
            return decision
        } catch {
            if Task.isCancelled { throw loss.cancelled() }
            throw loss.final(nil, surfacing: HttpError(ending: error))
        }
    }

    /// Reports the loss that ends the stream to the observer, and returns its error.
    private func ended(by loss: StreamLoss, _ decision: CallTrace.Decision, surfacing other: HttpError? = nil)
        -> HttpError
    {
        tell(loss, decision)
        return loss.final(decision, surfacing: other)
    }

    private func tell(_ loss: StreamLoss, _ decision: CallTrace.Decision) {
        let observer = configuration.observer
        guard observer.isEnabled else { return }
        let age = loss.isOfConnection ? loss.age : nil
        observer.observe(
            .connectionEnded(loss.error.call, .init(duration: age, kind: loss.error.kind, decision: decision))
        )
    }

    /// Lengthens a delay if the pace requires it.
    ///
    /// All streams that a server has ended at once would keep the same pace from that moment on, and their connections
    /// would come together every second. So each pace begins at a random moment of the second.
    private mutating func paced(_ delay: Duration) -> Duration {
        if due <= began { due = began + StreamPace.interval.scaled(by: SystemRandomNumberGenerator().nextFraction()) }
        due += StreamPace.interval
        let now = stopwatch.elapsed
        let delay = max(delay.clampedToCentury, due - StreamPace.interval * (StreamPace.burst - 1) - now)
        began = now + delay
        return delay
    }

    /// Adds the known facts to a failure. The outage is over if the connection had served.
    private mutating func lost(_ failure: HttpError) -> StreamLoss {
        var error = failure
        error.isReconnect = true
        guard let connection = connection.take() else {
            // No other connection could be opened; the failed call has said everything about itself.
            return StreamLoss(error: error, isOfConnection: false, trace: failure.trace, age: .zero)
        }
        let age = stopwatch.elapsed - connection.openedAt
        if connection.hasReceived || age >= StreamPace.usefulAge { outage = nil }
        let last = connection.trace.attempts.last
        (error.call, error.attempt) = (connection.trace.call, last?.number ?? 0)
        if error.request == nil { error.request = connection.trace.request }
        if error.exchange == nil { error.exchange = last?.exchanges.last }
        return StreamLoss(error: error, isOfConnection: true, trace: connection.trace, age: age)
    }
}

/// The tries to open another connection, since the loss of the last one that has served.
private final class StreamOutage: @unchecked Sendable {
    // Unchecked: it is used by the task that reads the stream, or by the one that it waits for.
    /// When that one was lost.
    let start: Duration
    /// The retrier for all of them, so that its delays grow.
    var retrier: any Retrier
    var count = 0

    init(since start: Duration, retrier: any Retrier) {
        (self.start, self.retrier) = (start, retrier)
    }
}

/// The end of a connection, or the failure to open one, with the trace of its call.
private struct StreamLoss {
    let error: HttpError
    /// Whether a connection has ended.
    let isOfConnection: Bool
    let trace: CallTrace
    /// How long the connection was open.
    let age: Duration

    /// Whether another connection might have an effect twice; unknown, and not assumed, when nothing was sent.
    var mustNotBeRepeated: Bool { error.delivery == .maybeExecuted && error.request?.isIdempotent == false }

    /// The error that ends the stream.
    func final(_ decision: CallTrace.Decision?, surfacing other: HttpError? = nil) -> HttpError {
        var trace = trace
        // The attempt that opened the connection had succeeded; now it has come to an end.
        let outcome = CallTrace.Outcome.failed(error.stage, error.kind, error.delivery)
        var last =
            trace.attempts.popLast() ?? CallTrace.Attempt(number: 1, start: .zero, duration: .zero, outcome: outcome)
        last.outcome = outcome
        last.duration += age
        last.decision = decision
        trace.attempts.append(last)
        trace.duration += age

        var surfacing = other ?? error
        surfacing.call = error.call
        if surfacing.attempt == 0 { surfacing.attempt = error.attempt }
        if surfacing.request == nil { surfacing.request = error.request }
        surfacing.trace = trace
        surfacing.markFinal()
        return surfacing
    }

    func cancelled() -> HttpError {
        final(nil, surfacing: HttpError(.cancelled, stage: .retry, delivery: error.delivery, underlying: error))
    }
}

/// When a stream's connection counts as having served, and how fast connections follow one another.
enum StreamPace {
    /// The age at which a connection has served even if nothing was received over it: nearly all servers and proxies
    /// leave an idle one alone for longer, and opening one every ten seconds is hardly a load.
    static let usefulAge = Duration.seconds(10)
    /// How far apart connections are in the long run, whatever was received over them: a server that accepts
    /// connections only to end them is not asked more often. Also the shortest time after a try that has failed.
    static let interval = Duration.seconds(1)
    /// How many connections may follow at once before that, such as when a server is being replaced.
    static let burst = 5
}
