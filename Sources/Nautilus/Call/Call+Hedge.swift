import Foundation

extension Call {
    /// Stages 4 and 5 of a service that hedges.
    func send(
        _ request: HttpRequest,
        _ context: AttemptContext,
        by hedging: Hedging
    ) async throws(HttpError) -> HttpResponse<Data> {
        let start = recorder.elapsed
        switch hedging.plan(for: request, isAllowed: self.request.allowsHedging, within: context.timeout) {
        case .none(let obstacle, let delay):
            // What was quick would not have been sent twice, so there is nothing to tell of it.
            defer { if recorder.elapsed - start >= delay { recorder.hedge = .notSent(obstacle) } }
            return try await send(request, context)

        case .hedge(let delay):
            let context = context.timed(on: clock)
            let exchange = HedgedExchange(
                request: request,
                context: context,
                hedging: hedging,
                delay: delay,
                guards: service.interceptors.compactMap { $0 as? any HedgeGuard },
                follower: follower,
                clock: clock
            )
            let (ending, timedOut) = await run(exchange, within: context.timeout)
            if ending.hedge != nil { recorder.hedge = ending.hedge }
            if ending.isCharged { recorder.isHedgeCharged = true }
            // Of the first send, whichever was answered: the time that a caller without a hedge has waited at least. So
            // what is slow stays slow, and one request in twenty is one in twenty.
            recorder.latency = recorder.elapsed - start - (context.connectionWait?.waited ?? .zero)
            recorder.exchanged(ending.otherDelivery)
            return try settle(ending.outcome, timedOut: timedOut)
        }
    }

    private func run(
        _ exchange: HedgedExchange,
        within timeout: Duration?
    ) async -> (HedgedExchange.Ending, timedOut: Duration?) {
        guard let timeout else { return (await exchange.run(), nil) }
        let limit = TimeLimit(timeout, on: clock)
        let wait = exchange.context.connectionWait
        if let (interruption, timer) = limit.interruption(besides: wait) {
            let ending = await exchange.run(until: interruption)
            return (ending, timer.end() ? timeout : nil)
        }
        let (ending, limitPassed) = await limit.cancelling(besides: wait) { await exchange.run() }
        return (ending, limitPassed ? timeout : nil)
    }

    /// Tells all who keep account of successes, each once.
    func noteSuccess() {
        let answered = answeredRequest
        if let hedging, let answered {
            let charge: RetryCharge? = recorder.isHedgeCharged ? .failure : nil
            var keeper = retrier as? any AccountKeeping
            if let latency = recorder.latency, keeper?.keeps(hedging.latencies) != true {
                hedging.latencies.record(latency, of: answered.origin)
            }
            if keeper?.takeOver(charge, of: hedging.budget) == true, let keeper {
                retrier = keeper
            } else {
                hedging.budget.budget(of: answered.origin)?.deposit(refunding: charge)
            }
        }
        retrier.succeeded(answered)
    }
}
