/// Writes a call's trace as it happens, and tells the observer.
struct TraceRecorder: Sendable {
    private let book: ExchangeBook
    private let observer: (any CallObserver)?
    private var start = Duration.zero
    private var trace = CallTrace()
    /// The request that the attempt was about to send when its first interceptor saw it, and the service's origin.
    private var intended: (request: HttpRequest, serviceOrigin: HttpOrigin)?

    /// The last answer that the call tier was given in this attempt; nil for none.
    private var lastAnswer: (status: Int, exchange: CallTrace.Exchange?)?

    /// The number of the current or last attempt; 0 before the first.
    private(set) var number = 0

    init(_ book: ExchangeBook, observer: (any CallObserver)?) {
        self.book = book
        self.observer = observer
        trace.call = book.identity
    }

    /// The time since the call began.
    var elapsed: Duration { book.stopwatch.elapsed }

    mutating func begin() {
        number = book.beginAttempt()
        (intended, lastAnswer) = (nil, nil)
        start = elapsed
        observer?.observe(.attemptStarted(book.identity, number: number))
    }

    /// Notes the request that is about to be sent, for attempts that then do not send it.
    mutating func willSend(_ request: HttpRequest, serviceOrigin: HttpOrigin) {
        intended = (request, serviceOrigin)
    }

    /// The request that the attempt has sent, or was about to send; nil until its first interceptor or its retrier sees
    /// it.
    var request: RequestSummary? {
        book.delivery().request ?? intended.flatMap { RequestSummary($0.request, serviceOrigin: $0.serviceOrigin) }
    }

    /// Records that the attempt, and with it the call, has succeeded.
    ///
    /// - Parameter exchange: The exchange that the answer came from; nil when an interceptor has made the answer.
    mutating func succeeded(_ status: Int, by exchange: CallTrace.Exchange?) -> CallTrace {
        if isOpen {
            end(.succeeded(status: status), nil, answer: exchange)
        } else if let last = trace.attempts.indices.last, case .failed = trace.attempts[last].outcome {
            // An interceptor has an answer in place of the failure, such as a stale one.
            trace.attempts[last].source = .interceptor(serverStatus: book.lastEnded?.status)
            trace.attempts[last].exchanges = book.exchanges()
        }
        return finished()
    }

    /// Records that a hook has fulfilled the call, without any attempt.
    mutating func fulfilled() -> CallTrace { finished() }

    /// Records that the attempt has failed, and another follows.
    mutating func willRetry(after error: HttpError, _ decision: CallTrace.Decision) {
        end(.failed(error.stage, error.kind, error.delivery), decision)
    }

    /// Records that the attempt has failed, and that its failure surfaces; nothing is recorded twice.
    ///
    /// - Parameter other: The error that surfaces, if it is a different one.
    mutating func surfacing(
        _ error: HttpError,
        _ decision: CallTrace.Decision? = nil,
        surfacing other: HttpError? = nil
    ) -> HttpError {
        if isOpen { end(.failed(error.stage, error.kind, error.delivery), decision) }
        var surfacing = other ?? error
        // An error made by a retrier knows neither attempt nor request.
        if surfacing.attempt == 0 { surfacing.attempt = error.attempt }
        if surfacing.request == nil { surfacing.request = error.request }
        surfacing.coders = surfacing.coders ?? error.coders
        return surfacing
    }

    /// Records that the call has failed with this error.
    mutating func failed(_ error: HttpError) -> HttpError {
        var error = surfacing(error)
        error.call = book.identity
        for attempt in trace.attempts {
            // A caller that starts over has to know what any of the attempts may have executed.
            if case .failed(_, _, let delivery) = attempt.outcome { error.delivery = max(error.delivery, delivery) }
        }
        error.trace = finished()
        error.markFinal()
        return error
    }

    /// Notes an answer that the call tier is given.
    mutating func answered(_ status: Int, by exchange: CallTrace.Exchange?) { lastAnswer = (status, exchange) }

    /// Records that the attempt has been answered, before another begins that has not followed from a failure.
    mutating func endAnswered() {
        guard isOpen, let (status, exchange) = lastAnswer.take() else { return }
        end(.succeeded(status: status), nil, answer: exchange)
    }

    /// Whether the last attempt was not repeated for want of time.
    var hasRunOutOfTime: Bool {
        switch trace.attempts.last?.decision?.reason {
        case .deadline, .cannotFinish: true
        default: false
        }
    }

    /// Whether an attempt may have been executed whose answer was lost.
    var hasLostAnswer: Bool {
        trace.attempts.contains { attempt in
            guard case .failed(_, let kind, .maybeExecuted) = attempt.outcome else { return false }
            if case .status = kind { return false }
            return true
        }
    }

    /// Whether the present attempt has not ended yet.
    private var isOpen: Bool { number > 0 && trace.attempts.last?.number != number }

    private mutating func end(
        _ outcome: CallTrace.Outcome,
        _ decision: CallTrace.Decision?,
        answer: CallTrace.Exchange? = nil
    ) {
        if let request { trace.request = request }
        let attempt = CallTrace.Attempt(
            number: number,
            start: start,
            duration: elapsed - start,
            outcome: outcome,
            decision: decision,
            hedge: book.hedge.result,
            exchanges: book.exchanges(),
            source: source(of: outcome, answer)
        )
        trace.attempts.append(attempt)
        observer?.observe(.attemptEnded(book.identity, attempt))
    }

    private func source(of outcome: CallTrace.Outcome, _ answer: CallTrace.Exchange?) -> CallTrace.Source {
        guard case .succeeded(let status) = outcome else { return .server }
        let own = answer.flatMap { $0.call == book.identity.id ? $0 : nil }
        let serverStatus = (own ?? book.lastEnded)?.status
        return serverStatus == status ? .server : .interceptor(serverStatus: serverStatus)
    }

    private mutating func finished() -> CallTrace {
        trace.duration = elapsed
        observer?.observe(.callEnded(book.identity, trace))
        return trace
    }
}
