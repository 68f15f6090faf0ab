import Foundation

extension Call {
    /// Ends a call that has succeeded: deposits in each budget of its retriers and of hedging, and adds its latency to each of
    /// their records, once.
    ///
    /// - Parameter response: The answer that the call's result was made of; the trace of the call is added to it.
    func succeeded(by response: inout HttpResponse<Data>) {
        if let answered = answered(response) { deposit(for: answered) }
        response.trace = recorder.succeeded(response.status, by: response.exchange)
    }

    private func deposit(for answered: CallTrace.Exchange) {
        // Redirects and hedges continue the request that was sent first; that request's origin counts.
        let root =
            answered.root == answered.number
            ? answered : book.exchanges().first { $0.number == answered.root } ?? answered
        let origin = root.request.origin
        let hedging = bound.configuration.hedging
        if book.hedge.isPaid, let budget = hedging?.budget.budget(of: lastBuilt?.origin) {
            note(RetryCost(from: budget, for: .hedge))
        }
        var budgets = retrier.budgets(for: origin)
        if let budget = hedging?.budget.budget(of: origin) { budgets.append(budget) }
        // The beginning of a stream does not yet prove that the server can bear it.
        let refundable = request.streamsResponse ? [] : paid
        for (index, budget) in budgets.enumerated() where !budgets[..<index].contains(where: { $0 === budget }) {
            budget.deposit(refunding: refundable.first { $0.budget === budget }?.reason)
        }
        guard let latency = latency(of: answered, since: root) else { return }
        var records = retrier.latencies
        if book.hedge.isPossible, let latencies = hedging?.latencies { records.append(latencies) }
        for (index, record) in records.enumerated() where !records[..<index].contains(where: { $0 === record }) {
            record.record(latency, of: origin)
        }
    }

    /// How long the server took, from the sending of the first request to the header of the answer; nil if that is not known.
    /// For a hedged attempt, the least that a caller without a hedge would have waited.
    private func latency(of answered: CallTrace.Exchange, since root: CallTrace.Exchange) -> Duration? {
        guard let own = answered.latency, root.number != answered.number else { return answered.latency }
        return max(.zero, answered.start - root.start - root.connectionWait + own)
    }

    /// The exchange of this call that the server has answered well; nil when an interceptor has made a success of
    /// something else, which tells nothing about the server.
    private func answered(_ response: HttpResponse<Data>) -> CallTrace.Exchange? {
        let own = response.exchange.flatMap { $0.call == scope.id && !book.isSubrequest($0) ? $0 : nil }
        guard let exchange = own ?? book.lastEnded, let status = exchange.status,
            status < 400 || request.acceptedStatusCodes.contains(status)
        else { return nil }
        return exchange
    }
}
