/// Writes a call's trace as it happens, and tells the observer.
struct TraceRecorder: Sendable {
    private let observer: (any CallObserver)?
    private let requestName: @Sendable () -> String
    /// Runs since the call began.
    let stopwatch: Stopwatch
    private var start = Duration.zero
    private var trace = CallTrace()

    /// The number of the attempt in progress, or of the last; 0 before the first.
    private(set) var number = 0
    /// What the attempt has sent, or was about to send; nil until its first interceptor or its retrier sees it.
    private(set) var request: RequestSummary?

    init<R: Request>(_ type: R.Type, stopwatch: Stopwatch, observer: any CallObserver) {
        self.observer = observer.isEnabled ? observer : nil
        self.requestName = { String(describing: R.self) }
        self.stopwatch = stopwatch
    }

    /// Where the redirects of the attempt's last exchange led; nil when it had none.
    var redirects: RedirectSummary?
    /// The status of the answer to the attempt's last exchange; nil when it had none.
    var answer: Int?
    /// The most that the exchanges of this attempt may have done; an interceptor can make several.
    private(set) var exchangeDelivery = Delivery.notSent

    /// What became of the attempt's second send; nil when there was no need of one.
    var hedge: CallTrace.Hedge?
    /// Whether the budget has paid for a second send.
    var isHedgeCharged = false
    /// How long the attempt's last exchange has taken, for a service that hedges; nil when it could not be hedged.
    var latency: Duration?

    /// The time since the call began.
    var elapsed: Duration { stopwatch.elapsed }

    mutating func begin() {
        number += 1
        (request, redirects, answer, exchangeDelivery) = (nil, nil, nil, .notSent)
        (hedge, isHedgeCharged, latency) = (nil, false, nil)
        start = elapsed
        observer?.observe(.attemptStarted(request: requestName(), number: number))
    }

    mutating func note(_ note: CallTrace.Note) {
        trace.notes.append(note)
    }

    mutating func exchanged(_ delivery: Delivery) {
        exchangeDelivery = max(exchangeDelivery, delivery)
    }

    /// Notes what is sent next. Of several requests that an interceptor makes of one, the one that must not be repeated
    /// speaks for the attempt.
    mutating func willSend(_ request: HttpRequest, serviceOrigin: HttpOrigin) {
        if exchangeDelivery == .maybeExecuted, let sent = self.request, !sent.isIdempotent { return }
        self.request = RequestSummary(request, serviceOrigin: serviceOrigin)
        trace.request = self.request
    }

    /// The attempt, and with it the call, has succeeded.
    mutating func succeeded(_ status: Int) -> CallTrace {
        end(.succeeded(status: status), nil)
        return finished()
    }

    /// A hook has fulfilled the call, which needed no attempt.
    mutating func fulfilled() -> CallTrace { finished() }

    /// The attempt has failed, and another follows.
    mutating func willRetry(after error: HttpError, _ decision: CallTrace.Decision) {
        end(.failed(error.stage, error.kind, error.delivery), decision)
    }

    /// The attempt, and with it the call, has failed; nothing is recorded twice.
    ///
    /// - Parameter surfacing: The error that surfaces, where that is another one.
    mutating func failed(
        _ error: HttpError,
        _ decision: CallTrace.Decision? = nil,
        surfacing other: HttpError? = nil
    ) -> HttpError {
        if trace.attempts.count < number { end(.failed(error.stage, error.kind, error.delivery), decision) }
        var surfacing = other ?? error
        for attempt in trace.attempts {
            // Whoever starts the call anew has to know what any of its attempts may have done.
            if case .failed(_, _, let delivery) = attempt.outcome {
                surfacing.delivery = max(surfacing.delivery, delivery)
            }
        }
        surfacing.trace = finished()
        surfacing.isFinal = true
        return surfacing
    }

    private mutating func end(_ outcome: CallTrace.Outcome, _ decision: CallTrace.Decision?) {
        let attempt = CallTrace.Attempt(
            number: number,
            start: start,
            duration: elapsed - start,
            outcome: outcome,
            decision: decision,
            hedge: hedge,
            source: source(of: outcome)
        )
        trace.attempts.append(attempt)
        observer?.observe(.attemptEnded(request: requestName(), attempt))
    }

    private func source(of outcome: CallTrace.Outcome) -> CallTrace.Source {
        guard case .succeeded(let status) = outcome, answer != status else { return .server }
        return .interceptor(serverStatus: answer)
    }

    private mutating func finished() -> CallTrace {
        trace.duration = elapsed
        observer?.observe(.callEnded(request: requestName(), trace))
        return trace
    }
}
