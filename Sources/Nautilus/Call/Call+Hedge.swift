import Foundation

extension Call {
    /// Stages 4 and 5 of a service that hedges.
    func send(
        _ request: HttpRequest,
        _ context: AttemptContext,
        by hedging: Hedging
    ) async throws(HttpError) -> HttpResponse<Data> {
        guard !context.isPartOfRefresh else {
            recorder.hedge = .notSent(.refresh)
            return try await send(request, context, as: .main)
        }
        let start = recorder.elapsed
        switch hedging.plan(for: request, isAllowed: self.request.allowsHedging, within: context.timeout) {
        case .none(let reason, let delay):
            // A quick request would not have been sent twice, so there is nothing to record.
            defer { if recorder.elapsed - start >= delay { recorder.hedge = .notSent(reason) } }
            return try await send(request, context, as: .main)

        case .hedge(let delay):
            couldBeHedged = true
            let exchange = HedgedExchange(
                request: request,
                context: context,
                progress: ExchangeProgress(book.stopwatch),
                hedging: hedging,
                delay: delay,
                deadline: deadline,
                interceptors: interceptors,
                follower: follower(for: .main, over: transport),
                clock: clock
            )
            let (ending, timedOut) = await run(exchange, within: context.timeout)
            if ending.hedge != nil { recorder.hedge = ending.hedge }
            if let permit = ending.permit { payment.note(permit) }
            return try settle(ending.outcome, timedOut: timedOut)
        }
    }

    private func run(
        _ exchange: HedgedExchange,
        within timeout: Duration?
    ) async -> (HedgedExchange.Ending, timedOut: Duration?) {
        guard let timeout else { return (await exchange.run(), nil) }
        let limit = TimeLimit(timeout, on: clock)
        let progress = exchange.progress
        if let alarm = limit.alarm(besides: progress) {
            let ending = await exchange.run(until: alarm.interruption)
            return (ending, alarm.end() ? timeout : nil)
        }
        let (ending, limitPassed) = await limit.cancelling(besides: progress) { await exchange.run() }
        return (ending, limitPassed ? timeout : nil)
    }
}

/// Sends a request, and sends it again when the first send is slow; the first good answer wins.
struct HedgedExchange: Sendable {
    typealias Outcome = RedirectFollower.Outcome

    /// The outcome that the attempt takes, and its cost.
    struct Ending: Sendable {
        let outcome: Outcome
        /// The result of the second send; nil when the first was quick.
        var hedge: CallTrace.Hedge?
        /// The permit that paid for a second send; nil when there was none, or when it was free.
        var permit: RetryPermit?
    }

    let request: HttpRequest
    let context: AttemptContext
    /// The first send's progress, which tells how long it has waited for a connection.
    let progress: ExchangeProgress
    let hedging: Hedging
    let delay: Duration
    /// The call's deadline; nil for none.
    let deadline: Duration?
    /// The interceptors that have to admit the second send.
    let interceptors: [any HttpInterceptor]
    let follower: RedirectFollower
    let clock: any Clock<Duration>

    /// Sends until there is an answer to take, or all sends have failed.
    ///
    /// - Parameter interruption: Ends the sends when the attempt's time is over; nil when the task is cancelled
    ///   instead.
    func run(until interruption: Interruption? = nil) async -> Ending {
        let race = HedgeRace()
        interruption?.onOccurrence { race.cancel() }
        defer { interruption?.ignore() }
        let stopwatch = Stopwatch(clock)
        let endTimer = TimeLimit(delay, on: clock).timer(besides: progress) { race.delayPassed() }
        defer { endTimer() }
        return await withTaskCancellationHandler {
            await run(race, stopwatch)
        } onCancel: {
            race.cancel()
        }
    }

    private func run(_ race: HedgeRace, _ stopwatch: Stopwatch) async -> Ending {
        let first = ExchangeBook.Opening(
            role: .main,
            number: context.exchange,
            attempt: context.number,
            mayOutliveAttempt: true
        )
        race.start(.first) { await follower.send(request, context.following(progress), progress, first) }
        var hedge: CallTrace.Hedge?
        var permit: RetryPermit?
        var failed: (sending: CallTrace.Sending, outcome: Outcome)?
        while true {
            switch await race.next() {
            case .delayPassed:
                // The attempt no longer wants an answer.
                if race.isCancelled { continue }
                switch startSecond(in: race) {
                case .failure(let refusal): hedge = .notSent(refusal.reason)
                case .success(let payment): (hedge, permit) = (.sent(after: stopwatch.elapsed, winner: nil), payment)
                }

            case .ended(let sending, let outcome):
                guard case .sent(let start, _) = hedge else { return Ending(outcome: outcome, hedge: hedge) }
                if isAnswered(by: outcome) {
                    race.cancel(sending.other)
                    return Ending(outcome: outcome, hedge: .sent(after: start, winner: sending), permit: permit)
                }
                if sending == .second { race.secondHasLost() }
                guard let other = failed else {
                    failed = (sending, outcome)
                    continue
                }
                let (first, second) = sending == .first ? (outcome, other.outcome) : (other.outcome, outcome)
                return Ending(outcome: second.saysMore(than: first) ? second : first, hedge: hedge, permit: permit)
            }
        }
    }

    /// Starts the second send, and returns the permit that has paid for it, or says why it was not made.
    private func startSecond(in race: HedgeRace) -> Result<RetryPermit?, Refusal> {
        guard let origin = request.origin else { return .success(nil) }
        if follower.sessions.end != nil { return .failure(Refusal(reason: .sessionOver)) }
        let left = [context.timeout.map { $0 - delay }, deadline.map { $0 - follower.book.stopwatch.elapsed }]
        if let reason = hedging.reasonNotToSend(to: origin, timeLeft: left.compactMap(\.self).min()) {
            return .failure(Refusal(reason: reason))
        }
        let leave: @Sendable () -> Void
        switch interceptors.admitSecondSend(of: request, context: context) {
        case .success(let end): leave = end
        case .failure(let refusal): return .failure(Refusal(reason: .heldBack(by: refusal.interceptor)))
        }
        // Checked last: a send that is not made is not paid for.
        guard let permit = hedging.payment(to: origin) else {
            leave()
            return .failure(Refusal(reason: .budget))
        }
        _ = permit?.use()
        // Its own wait for a connection counts as part of the attempt's time, and must not stop the first send's clock.
        let own = ExchangeProgress(follower.book.stopwatch)
        let second = ExchangeBook.Opening(
            role: .hedge,
            attempt: context.number,
            root: context.exchange,
            mayOutliveAttempt: true
        )
        race.start(.second, leaving: leave) {
            // The first answer may have come before this task has begun.
            guard !Task.isCancelled else { return .unsent }
            return await follower.send(request, context.following(own), own, second)
        }
        return .success(permit)
    }

    private struct Refusal: Error {
        let reason: NotHedgedReason
    }

    /// Whether the attempt takes this outcome without waiting for the other send.
    private func isAnswered(by outcome: Outcome) -> Bool {
        guard let status = outcome.response?.status else { return false }
        if follower.accepted.contains(status) { return true }
        // The other send would get the same answer, unless this status only describes the moment. After a DELETE, a 404
        // may be the answer to the send that came second.
        return request.method.isSafe && status < 500 && ![408, 425, 429].contains(status)
    }
}

extension CallTrace.Sending {
    fileprivate var other: CallTrace.Sending { self == .first ? .second : .first }
}

extension RedirectFollower.Outcome {
    /// The outcome of a send that was cancelled before it began.
    fileprivate static var unsent: Self { Self(ending: .failed(CancellationError()), redirects: nil, exchange: nil) }

    /// The response, including that of a refused redirect.
    fileprivate var response: HttpResponse<Data>? {
        switch ending {
        case .response(let response), .refused(_, let response): response
        case .failed: nil
        }
    }

    /// Whether the server has said something here that the caller has to heed and that is missing in `other`.
    fileprivate func saysMore(than other: RedirectFollower.Outcome) -> Bool {
        guard let response else { return false }
        guard let otherResponse = other.response else { return true }
        return response.header.retryAfter() ?? .zero > otherResponse.header.retryAfter() ?? .zero
    }
}
