/// The connections of a stream, one after the other, each a call of its own.
///
/// The stream itself decides what is read over a connection, and how. This type decides what follows a connection's
/// end: it asks the service's retrier, and bounds how fast connections follow one another. All of them belong to the
/// environment and to the session in which the first one began.
///
/// ```swift
/// var connections = StreamConnections(of: request, with: service)
/// while true {
///     let response = try await connections.open(request)
///     let end = await read(response.body) { connections.received() }
///     try await connections.waitForNext(after: end)
/// }
/// ```
/// A stream is meant to last, but its connections are not: servers and proxies end them every few minutes, phones lose
/// them in every tunnel. A connection has served if something was received over it, or if it has lasted for ten
/// seconds. The end of such a connection is not a failure (``HttpError/hadServed``): a new retrier decides what
/// follows, and no budget pays for it, since otherwise an app's streams would use up what its calls need. A connection
/// that has not served is like a failed attempt: one retrier counts all of these, and its budget pays. After a burst of
/// five, connections follow one another a second apart in the long run, whatever was received.
///
/// For one task at a time.
public struct StreamConnections<R: Request, S: HttpService> {
    /// The calls that open the connections.
    public let calls = CallSequence()
    private let request: R
    /// The service; if it has a selection, the service that was selected when the stream began.
    private let service: AnyHttpService<S.RequestError>
    /// The state that keeps the stream going; nil before the first connection is open.
    private var reconnection: StreamReconnection<R, AnyHttpService<S.RequestError>>?
    /// The end that the next connection follows; nil for the first one.
    private var end: StreamEnd?

    /// Creates the connections of a stream, without opening any.
    ///
    /// - Parameters:
    ///   - request: The request that retriers are asked about.
    ///   - service: The service. For a ``ServiceSwitch``, all connections go to the service that is selected now.
    public init(of request: R, with service: S) {
        (self.request, self.service) = (request, AnyHttpService(service).final)
    }

    /// Opens the first connection, or the one that ``waitForNext(after:notBefore:)`` has waited for.
    ///
    /// - Parameter opening: The request that opens the connection; it may say where the previous one broke off.
    /// - Throws: The failure of the call.
    public mutating func open<Opening: Request>(
        _ opening: Opening
    ) async throws(HttpError) -> HttpResponse<Opening.Result> {
        let response = try await Call.response(to: opening, with: service, after: end.take(), in: calls)
        if reconnection == nil {
            reconnection = StreamReconnection(
                of: request,
                with: service,
                in: calls,
                opened: response.trace,
                Stopwatch(service.clock)
            )
        } else {
            reconnection?.opened(response.trace)
        }
        return response
    }

    /// Notes that something was received over the connection, so that it has served.
    public mutating func received() { reconnection?.received() }

    /// Returns when it is time to open the next connection.
    ///
    /// - Parameters:
    ///   - end: How the connection ended.
    ///   - delay: The shortest time before the next connection, for servers that ask for one. Default: none.
    /// - Throws: The end, with its trace, when the retrier does not want another connection; the retrier's own failure;
    ///   the cancellation.
    public mutating func waitForNext(after end: HttpError, notBefore delay: Duration = .zero) async throws(HttpError) {
        self.end = try await reconnection?.next(after: end, notBefore: delay)
    }
}

extension HttpError {
    /// Creates the error that ends a stream, from a call's own error or one thrown between its calls.
    public init(ending thrown: any Error) {
        self = thrown as? HttpError ?? HttpError(wrapping: thrown, stage: .decode, delivery: .maybeExecuted)
    }
}

/// Keeps a stream going from one connection to the next, as described in ``StreamConnections``.
private struct StreamReconnection<R: Request, S: HttpService> {
    private let request: R
    private let service: S
    private let calls: CallSequence
    private let stopwatch: Stopwatch
    /// When and how the connection was opened.
    private var opening: (at: Duration, trace: CallTrace)
    private var hasReceived = false
    /// The retrier for the useless connections since the last one that served; nil when there were none.
    private var retrier: (any Retrier)?
    /// The number of useless connections since then.
    private var uselessCount = 0
    /// When the next connection would be due at a steady pace.
    private var due = StreamPace.interval

    /// - Parameters:
    ///   - request: The request that the retriers are asked about.
    ///   - calls: The calls that open the connections: no wait outlives their session.
    ///   - trace: The trace of the call that opened the first connection.
    ///   - stopwatch: Measures the time since then.
    init(of request: R, with service: S, in calls: CallSequence, opened trace: CallTrace, _ stopwatch: Stopwatch) {
        (self.request, self.service, self.calls, self.stopwatch) = (request, service, calls, stopwatch)
        opening = (.zero, trace)
    }

    /// Notes that something was received over the connection.
    mutating func received() { hasReceived = true }

    /// Notes that another connection has been opened.
    mutating func opened(_ trace: CallTrace) {
        (opening, hasReceived) = ((stopwatch.elapsed, trace), false)
    }

    /// Returns when it is time to open the next connection.
    ///
    /// - Parameters:
    ///   - end: How the connection ended.
    ///   - delay: The shortest time before the next connection.
    /// - Throws: The end, with its trace, when the retrier does not want another connection; the retrier's own failure;
    ///   the cancellation.
    mutating func next(after end: HttpError, notBefore delay: Duration) async throws(HttpError) -> StreamEnd {
        let age = stopwatch.elapsed - opening.at
        let loss = located(end, hadServed: hasReceived || age >= StreamPace.usefulAge)
        if loss.hadServed {
            (retrier, uselessCount) = (nil, 0)
        } else {
            uselessCount += 1
        }
        var retrier = retrier ?? Call.factory(for: request, of: service).create(for: request)
        if Task.isCancelled { throw cancelled(after: loss, age) }
        var asked = loss
        if calls.hasSession { asked.sequence = calls }
        let decision = await retrier.retry(request, failingWith: asked)
        let (name, reason) = (retrier.name, retrier.reason)
        // A retrier's decision on the end of a connection that has served must not count later.
        self.retrier = loss.hadServed ? nil : retrier
        if Task.isCancelled { throw cancelled(after: loss, age) }

        switch decision {
        case .doNotRetry:
            throw ended(loss, age, .init(retrier: name, action: .stop, reason: reason))
        case .fail(let other):
            throw ended(loss, age, .init(retrier: name, action: .fail, reason: reason), surfacing: other)
        case .retry(let wanted, let permit):
            // No retrier may go on forever with connections that are of no use.
            guard uselessCount < service.maxAttempts else {
                throw ended(loss, age, .init(retrier: "Call", action: .stop, reason: .ceiling(service.maxAttempts)))
            }
            do {
                try await RetrySleep.sleep(
                    for: paced(max(wanted, delay)),
                    stopwatch,
                    deadline: nil,
                    nap: { [calls, service] in try await calls.sleep(for: $0, on: service.clock) },
                    spread: retrier.spread
                )
            } catch {
                throw cancelled(after: loss, age)
            }
            return StreamEnd(loss: loss, permit: permit)
        }
    }

    /// Lengthens a delay if the pace requires it.
    private mutating func paced(_ delay: Duration) -> Duration {
        let now = stopwatch.elapsed
        let delay = max(.zero, delay.clampedToCentury, due - StreamPace.interval * (StreamPace.burst - 1) - now)
        due = max(due, now + delay) + StreamPace.interval
        return delay
    }

    /// Adds the known facts about the connection to its end.
    private func located(_ end: HttpError, hadServed: Bool) -> HttpError {
        var loss = end
        loss.hadServed = hadServed
        loss.call = opening.trace.call
        loss.attempt = opening.trace.attempts.last?.number ?? 0
        if loss.request == nil { loss.request = opening.trace.request }
        if loss.exchange == nil { loss.exchange = opening.trace.attempts.last?.exchanges.last }
        return loss
    }

    /// Creates the error that ends the stream.
    private func ended(
        _ loss: HttpError,
        _ age: Duration,
        _ decision: CallTrace.Decision?,
        surfacing other: HttpError? = nil
    ) -> HttpError {
        var trace = opening.trace
        // The attempt that opened the connection had succeeded; now it has come to an end.
        let outcome = CallTrace.Outcome.failed(loss.stage, loss.kind, loss.delivery)
        var last =
            trace.attempts.popLast() ?? CallTrace.Attempt(number: 1, start: .zero, duration: .zero, outcome: outcome)
        last.outcome = outcome
        last.duration += age
        last.decision = decision
        trace.attempts.append(last)
        trace.duration += age

        var error = other ?? loss
        error.call = loss.call
        if error.attempt == 0 { error.attempt = loss.attempt }
        if error.request == nil { error.request = loss.request }
        (error.trace, error.sequence) = (trace, nil)
        error.markFinal()
        return error
    }

    private func cancelled(after loss: HttpError, _ age: Duration) -> HttpError {
        let cancellation = HttpError(.cancelled, stage: .retry, delivery: loss.delivery, underlying: loss)
        return ended(loss, age, nil, surfacing: cancellation)
    }
}

/// The end of a stream's connection, to be followed by another one.
struct StreamEnd: Sendable {
    /// How the connection ended.
    let loss: HttpError
    /// The permit that pays for the next connection; nil when it is free.
    let permit: RetryPermit?
}

/// When a stream's connection counts as having served, and how fast connections follow one another.
enum StreamPace {
    /// The age at which a connection has served even if nothing was received over it: nearly all servers and proxies
    /// leave an idle one alone for longer, and opening one every ten seconds is hardly a load.
    static let usefulAge = Duration.seconds(10)
    /// How far apart connections are in the long run, whatever was received over them: a server that accepts
    /// connections only to end them is not asked more often.
    static let interval = Duration.seconds(1)
    /// How many connections may follow at once before that, such as when a server is being replaced.
    static let burst = 5
}
