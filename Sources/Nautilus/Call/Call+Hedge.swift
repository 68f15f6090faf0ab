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
            // A quick request would not have been sent twice, so there is nothing to record.
            defer { if recorder.elapsed - start >= delay { recorder.hedge = .notSent(obstacle) } }
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
        if let (interruption, timer) = limit.interruption(besides: progress) {
            let ending = await exchange.run(until: interruption)
            return (ending, timer.end() ? timeout : nil)
        }
        let (ending, limitPassed) = await limit.cancelling(besides: progress) { await exchange.run() }
        return (ending, limitPassed ? timeout : nil)
    }
}
