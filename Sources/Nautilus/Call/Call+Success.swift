import Foundation

extension Call {
    /// Ends a call that has succeeded: reports it to the retrier and, if the service hedges, to the record of latencies
    /// and the budget, each once.
    ///
    /// - Parameter response: The answer that the call's result was made of; the trace of the call is added to it.
    func succeeded(by response: inout HttpResponse<Data>) {
        if book.hedge.isPaid, let budget = configuration.hedging?.budget.budget(of: lastBuilt?.origin) {
            payment.note(RetryPermit(from: budget, for: .hedge))
        }
        let success = success(by: response)
        if let hedging = configuration.hedging, let origin = success.answered?.request.origin {
            if book.hedge.isPossible { success.record(in: hedging.latencies) }
            if let budget = hedging.budget.budget(of: origin) { success.deposit(in: budget) }
        }
        retrier.succeeded(success)
        response.trace = recorder.succeeded(response.status, by: response.exchange)
    }

    private func success(by response: HttpResponse<Data>) -> CallSuccess {
        let exchanges = book.exchanges()
        // The beginning of a stream does not yet prove that the server can bear it.
        let permits = request.streamsResponse ? [] : payment.used
        guard let answered = answered(response) else { return CallSuccess(exchanges: exchanges, permits: permits) }
        // Redirects and hedges continue the request that was sent first; that request's origin counts.
        let root = exchanges.first { $0.number == answered.root } ?? answered
        var latency = answered.latency
        if let own = latency, root.number != answered.number {
            latency = max(.zero, answered.start - root.start - root.connectionWait + own)
        }
        return CallSuccess(exchanges: exchanges, answered: root, latency: latency, permits: permits)
    }

    /// The exchange of this call that the server has answered well; nil when an interceptor has made a success of
    /// something else, which tells nothing about the server.
    private func answered(_ response: HttpResponse<Data>) -> CallTrace.Exchange? {
        let own = response.exchange.flatMap { $0.call == scope.id ? $0 : nil }
        guard let exchange = own ?? book.lastEnded, let status = exchange.status,
            status < 400 || request.acceptedStatusCodes.contains(status)
        else { return nil }
        return exchange
    }
}
