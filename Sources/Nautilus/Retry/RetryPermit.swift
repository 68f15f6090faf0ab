/// The right to send one retry, taken from a budget: paid for when the retry is sent, given back when it never is.
///
/// Between a decision and its retry much can happen: the caller leaves, a cache answers, the body turns out to be spent.
/// A permit that is dropped unused gives its cost back by itself. The call uses it, at the moment the attempt's request
/// is handed to the transport.
public final class RetryPermit: Sendable {
    private enum State {
        case unused, used
    }

    /// The budget that it was taken from.
    public let budget: any RetryBudget
    /// The kind of failure it was withdrawn for.
    public let charge: RetryCharge
    private let giveBack: @Sendable () -> Void
    private let state = Locked(State.unused)

    /// Creates a permit, as a budget does once it has taken the cost.
    ///
    /// - Parameters:
    ///   - budget: The budget.
    ///   - charge: The charge that it was withdrawn for.
    ///   - giveBack: Gives the cost back. Called at most once, from any task. Default: nothing, for a budget without cost.
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

    /// Takes note that a retry is sent now.
    ///
    /// - Returns: Whether it may be sent: always the first time. Calls that share one answer share the permit for its
    ///   retry, too; where that turns out to be more than one, the budget has to pay once more.
    public func use() -> Bool {
        let isFirst = state.withLock { state in
            defer { state = .used }
            return state == .unused
        }
        return isFirst || budget.withdraw(charge)?.use() == true
    }
}
