/// The success of a call, as its retrier learns of it and reports it to budgets and latencies.
///
/// Two retriers that are asked in turn, or a retrier and the rules of hedging, may share a budget or a record of
/// latencies. It counts the success once, whichever of them reports it first.
public final class CallSuccess {
    /// The exchanges of the successful attempt, in the order in which they were sent; empty when nothing was sent.
    public let exchanges: [CallTrace.Exchange]
    /// The exchange whose answer made the call succeed; nil when an interceptor supplied the answer, or when it came
    /// from another call's exchange.
    public let answered: CallTrace.Exchange?
    /// How long the server took, from the sending of the first request to the header of the answer; nil when it has not
    /// answered. For a hedged attempt, the least that a caller without a hedge would have waited.
    public let latency: Duration?

    /// The permits of the call's last sent retry, one for each budget that has paid for a retry.
    private let permits: [RetryPermit]
    /// The budgets and latencies that have been told of the success; there are few.
    private var told: (first: ObjectIdentifier?, others: [ObjectIdentifier]) = (nil, [])

    /// Creates a success, as a test of a retrier does.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges of the successful attempt. Default: none.
    ///   - answered: The exchange whose answer made the call succeed. Default: nil, the answer was not the server's.
    ///   - latency: How long the server took. Default: nil, it did not answer.
    ///   - permits: The permits of the call's last retry, one for each budget. Default: none, there was no retry.
    public init(
        exchanges: [CallTrace.Exchange] = [],
        answered: CallTrace.Exchange? = nil,
        latency: Duration? = nil,
        permits: [RetryPermit] = []
    ) {
        (self.exchanges, self.answered, self.latency) = (exchanges, answered, latency)
        self.permits = permits
    }

    /// Deposits the success in `budget`, once; the budget may refund what the call's last retry took from it.
    ///
    /// Does nothing when the answer is not the server's: such an answer does not show how much load the server can
    /// bear.
    public func deposit(in budget: any RetryBudget) {
        guard answered != nil, isFirst(budget) else { return }
        budget.deposit(refunding: permits.first { $0.budget === budget }?.charge)
    }

    /// Records the latency in `latencies`, once; does nothing when the server has not answered.
    public func record(in latencies: OriginLatencies) {
        guard let answered, let latency, isFirst(latencies) else { return }
        latencies.record(latency, of: answered.request.origin)
    }

    /// Whether `listener` has not been told yet; marks it as told.
    private func isFirst(_ listener: AnyObject) -> Bool {
        let id = ObjectIdentifier(listener)
        guard told.first != id, !told.others.contains(id) else { return false }
        if told.first == nil { told.first = id } else { told.others.append(id) }
        return true
    }
}
