/// The success of a call, as its retrier is told of it. Budgets and latencies are told through it, each once.
///
/// Two retriers that are asked in turn, or a retrier and the rules of hedging, may share a budget or a record of latencies.
/// It takes note of the success once, whichever of them comes first.
public final class CallSuccess {
    /// The exchanges of the attempt that succeeded, in the order of their sending; empty when nothing was sent.
    public let exchanges: [CallTrace.Exchange]
    /// The exchange whose answer made the success; nil when the answer was not the server's, but an interceptor's, or
    /// one to another call's exchange.
    public let answered: CallTrace.Exchange?
    /// How long the server took, from the sending of the first request to the header of the answer; nil when it has not
    /// answered. For a hedged attempt, it is the least that a caller without a hedge would have waited.
    public let latency: Duration?

    /// The permit of the last retry of the call that was sent, of each budget that has paid for one.
    private let permits: [RetryPermit]
    /// The budgets and latencies that have been told; there are few.
    private var told: (first: ObjectIdentifier?, others: [ObjectIdentifier]) = (nil, [])

    /// Creates a success, as a test of a retrier does.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges of the attempt that succeeded. Default: none.
    ///   - answered: The exchange whose answer made the success. Default: nil, the answer was not the server's.
    ///   - latency: How long the server took. Default: nil, it did not answer.
    ///   - permits: The permit of the call's last retry, of each budget. Default: none, there was no retry.
    public init(
        exchanges: [CallTrace.Exchange] = [],
        answered: CallTrace.Exchange? = nil,
        latency: Duration? = nil,
        permits: [RetryPermit] = []
    ) {
        (self.exchanges, self.answered, self.latency) = (exchanges, answered, latency)
        self.permits = permits
    }

    /// Deposits the success in `budget`, once; the charge of the call's last retry there may come back.
    ///
    /// Nothing happens when the answer is not the server's: it does not show how much load the server bears.
    public func deposit(in budget: any RetryBudget) {
        guard answered != nil, isFirst(budget) else { return }
        budget.deposit(refunding: permits.first { $0.budget === budget }?.charge)
    }

    /// Notes the latency in `latencies`, once; nothing happens when the server has not answered.
    public func record(in latencies: OriginLatencies) {
        guard let answered, let latency, isFirst(latencies) else { return }
        latencies.record(latency, of: answered.request.origin)
    }

    /// Whether `listener` has not been told yet; it has been from now on.
    private func isFirst(_ listener: AnyObject) -> Bool {
        let id = ObjectIdentifier(listener)
        guard told.first != id, !told.others.contains(id) else { return false }
        if told.first == nil { told.first = id } else { told.others.append(id) }
        return true
    }
}
