/// The right to send one retry, taken from a budget: used up when the retry is sent, given back when it never is.
///
/// Much can happen between a decision and its retry: the caller leaves, a cache answers, the body turns out to be
/// spent. A permit that is dropped unused gives its cost back by itself. The call uses the permit at the moment when
/// the attempt's request is handed to the transport.
public final class RetryPermit: Sendable {
    private enum State {
        case unused, used
    }

    /// The budget that the permit was taken from.
    public let budget: any RetryBudget
    /// The charge for which the permit was withdrawn.
    public let charge: RetryCharge
    private let giveBack: @Sendable () -> Void
    private let state = Locked(State.unused)

    /// Creates a permit, as a budget does once it has taken the cost.
    ///
    /// - Parameters:
    ///   - budget: The budget.
    ///   - charge: The charge for which the permit was withdrawn.
    ///   - giveBack: Gives the cost back. Called at most once, from any task. Default: nothing, for a budget without
    ///     cost.
    public init(
        from budget: any RetryBudget,
        for charge: RetryCharge,
        giveBack: @escaping @Sendable () -> Void = {}
    ) {
        (self.budget, self.charge, self.giveBack) = (budget, charge, giveBack)
    }

    deinit {
        if state.withLock({ $0 }) == .unused { giveBack() }
    }

    /// Uses the permit for a retry that is sent now.
    ///
    /// - Returns: Whether the retry may be sent: always true the first time. Calls that share an answer also share the
    ///   permit for its retry; if they send more than one retry after all, the budget has to pay again.
    public func use() -> Bool {
        let isFirst = state.withLock { state in
            defer { state = .used }
            return state == .unused
        }
        return isFirst || budget.withdraw(charge)?.use() == true
    }
}
