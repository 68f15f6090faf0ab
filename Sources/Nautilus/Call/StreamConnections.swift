/// The connections of a stream, one after the other, each a call of its own.
///
/// What is read over a connection, and how, is the stream's business; what follows its end is decided here: the service's
/// retrier is asked, and bounds are put on how fast connections follow one another. All of them belong to the environment and
/// to the session that the first began in.
///
/// ```swift
/// var connections = StreamConnections(of: request, with: service)
/// while true {
///     let response = try await connections.open(request)
///     let end = await read(response.body) { connections.received() }
///     try await connections.waitForNext(after: end)
/// }
/// ```
/// A stream is meant to last, and its connections are not: servers and proxies end them by the minute, phones lose them
/// in every tunnel. So the end of a connection that has served, over which something has come or which has lasted for ten
/// seconds, is no failure (``HttpError/hadServed``). A new retrier decides on what follows, and no budget pays for it, or the
/// streams of an app would use up what its calls need. A connection that has not served is like a failed attempt: one
/// retrier counts them all, and its budget pays. Connections follow one another a second apart in the long run, after five
/// at once, whatever came over them.
///
/// For one task at a time.
public struct StreamConnections<R: Request, S: HttpService> {
    /// The calls that open them.
    public let calls = CallSequence()
    private let request: R
    /// The one that was selected when the stream began, where the service has a selection.
    private let service: AnyHttpService<S.RequestError>
    /// Nil before the first one is open.
    private var reconnection: StreamReconnection<R, AnyHttpService<S.RequestError>>?
    /// The end that the next one follows; nil for the first.
    private var end: StreamEnd?

    /// Creates the connections of a stream, of which none is open.
    ///
    /// - Parameters:
    ///   - request: The request that retriers are asked about.
    ///   - service: The service. Of a ``ServiceSwitch``, all connections go to what is selected now.
    public init(of request: R, with service: S) {
        (self.request, self.service) = (request, AnyHttpService(service).final)
    }

    /// Opens the first connection, or the one that ``waitForNext(after:notBefore:)`` has waited for.
    ///
    /// - Parameter opening: The request that opens it, which may tell where the one before broke off.
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

    /// Notes that something has come over the connection: it has served.
    public mutating func received() { reconnection?.received() }

    /// Returns when the next connection is to be opened.
    ///
    /// - Parameters:
    ///   - end: How the connection ended.
    ///   - delay: The least time before the next one, as a server may ask for. Default: none.
    /// - Throws: The end, with its trace, when the retrier does not want another connection; the retrier's own failure;
    ///   the cancellation.
    public mutating func waitForNext(after end: HttpError, notBefore delay: Duration = .zero) async throws(HttpError) {
        self.end = try await reconnection?.next(after: end, notBefore: delay)
    }
}

extension HttpError {
    /// The error that ends a stream: a call's own, or one that was thrown between its calls.
    public init(ending thrown: any Error) {
        self = thrown as? HttpError ?? HttpError(wrapping: thrown, stage: .decode, delivery: .maybeExecuted)
    }
}

/// Keeps a stream going from one connection to the next, as ``StreamConnections`` says.
private struct StreamReconnection<R: Request, S: HttpService> {
    private let request: R
    private let service: S
    private let calls: CallSequence
    private let stopwatch: Stopwatch
    /// When the connection was opened, and how.
    private var opening: (at: Duration, trace: CallTrace)
    private var hasReceived = false
    /// Asked about the connections since the last that served; nil when there was none.
    private var retrier: (any Retrier)?
    /// How many those are.
    private var uselessCount = 0
    /// When the next connection would be due at a steady pace.
    private var due = StreamPace.interval

    /// - Parameters:
    ///   - request: The request that the retriers are asked about.
    ///   - calls: The calls that open the connections: no wait outlives their session.
    ///   - trace: How the first connection was opened.
    ///   - stopwatch: Runs since then.
    init(of request: R, with service: S, in calls: CallSequence, opened trace: CallTrace, _ stopwatch: Stopwatch) {
        (self.request, self.service, self.calls, self.stopwatch) = (request, service, calls, stopwatch)
        opening = (.zero, trace)
    }

    /// Something has come over the connection.
    mutating func received() { hasReceived = true }

    /// Another connection has been opened.
    mutating func opened(_ trace: CallTrace) {
        (opening, hasReceived) = ((stopwatch.elapsed, trace), false)
    }

    /// Returns when the next connection is to be made.
    ///
    /// - Parameters:
    ///   - end: How the connection ended.
    ///   - delay: The least time before the next one.
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
        let decision = await retrier.retry(request, failingWith: loss)
        let (name, reason) = (retrier.name, retrier.reason)
        // Decisions on the end of a connection that has served count for nothing.
        self.retrier = loss.hadServed ? nil : retrier
        if Task.isCancelled { throw cancelled(after: loss, age) }

        switch decision {
        case .doNotRetry:
            throw ended(loss, age, .init(retrier: name, action: .stop, reason: reason))
        case .fail(let other):
            throw ended(loss, age, .init(retrier: name, action: .fail, reason: reason), surfacing: other)
        case .retry(let wanted, let permit):
            // No retrier may go on for ever with a connection that is of no use.
            guard uselessCount < service.maxAttempts else {
                throw ended(loss, age, .init(retrier: "Call", action: .stop, reason: .ceiling(service.maxAttempts)))
            }
            do {
                try await LateWakeup.sleep(
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

    /// A delay that is long enough for the pace.
    private mutating func paced(_ delay: Duration) -> Duration {
        let now = stopwatch.elapsed
        let delay = max(.zero, delay.clampedToCentury, due - StreamPace.interval * (StreamPace.burst - 1) - now)
        due = max(due, now + delay) + StreamPace.interval
        return delay
    }

    /// The end, with the known facts of its connection.
    private func located(_ end: HttpError, hadServed: Bool) -> HttpError {
        var loss = end
        loss.hadServed = hadServed
        loss.call = opening.trace.call
        loss.attempt = opening.trace.attempts.last?.number ?? 0
        if loss.request == nil { loss.request = opening.trace.request }
        if loss.exchange == nil { loss.exchange = opening.trace.attempts.last?.exchanges.last }
        return loss
    }

    /// The error that ends the stream.
    private func ended(
        _ loss: HttpError,
        _ age: Duration,
        _ decision: CallTrace.Decision?,
        surfacing other: HttpError? = nil
    ) -> HttpError {
        var trace = opening.trace
        // The attempt that opened the connection succeeded, and has come to an end.
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
        error.trace = trace
        error.markFinal()
        return error
    }

    private func cancelled(after loss: HttpError, _ age: Duration) -> HttpError {
        let cancellation = HttpError(.cancelled, stage: .retry, delivery: loss.delivery, underlying: loss)
        return ended(loss, age, nil, surfacing: cancellation)
    }
}

/// The end of a stream's connection that another one follows.
struct StreamEnd: Sendable {
    /// How it ended.
    let loss: HttpError
    /// The permit that pays for the next one; nil when that is free.
    let permit: RetryPermit?
}

/// How long a stream's connection serves, and how fast one follows another.
enum StreamPace {
    /// From this age on a connection has served, also when nothing has come over it: nearly all servers and proxies
    /// leave an idle one alone for longer, and one in ten seconds is no load.
    static let usefulAge = Duration.seconds(10)
    /// In the long run connections follow one another this far apart, whatever came over them: a server that takes each
    /// only to end it is not asked faster.
    static let interval = Duration.seconds(1)
    /// So many may follow at once before that, as when a server is replaced by another one.
    static let burst = 5
}
