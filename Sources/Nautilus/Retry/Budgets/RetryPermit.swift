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
    /// - Returns: Whether the retry may be sent: always true the first time. Calls that share one answer also share the
    ///   permit for its retry; if they send more than one retry after all, the budget has to pay again.
    public func use() -> Bool {
        let isFirst = state.withLock { state in
            defer { state = .used }
            return state == .unused
        }
        return isFirst || budget.withdraw(charge)?.use() == true
    }
}

/// The reason for one more request, by which a budget decides its cost; mostly the failure that a retry follows.
public enum RetryCharge: Hashable, Sendable {
    /// A 429 that says when to come back: the server is well, and has merely enforced a rule.
    case postponed
    /// Any other answer, such as 503 with `Retry-After`, by which the server has refused the request unprocessed, and
    /// said when to come back. It may be the limit of a fleet, or a server at the end of its strength.
    case unavailable
    /// A 429 that does not say when to come back.
    case throttling
    /// Any other failure.
    case failure
    /// No failure at all: a slow attempt is sent a second time, see ``Hedging``. It costs as much as a retry after a
    /// failure, but its success shows less: a slow server may have answered both.
    case hedge

    /// Whether the server has refused the request unprocessed, and said when to come back.
    var isInvited: Bool { self == .postponed || self == .unavailable }

    /// Creates the charge of a retry after `error`; nil when it is free.
    ///
    /// A request that found no network, or that was held back here, has not reached any server; its retry is the first
    /// that can be a load on one. Nor is it a failure when the connection of a stream ends after it has served.
    init?(after error: HttpError) {
        guard !error.isRefusal, !error.hadServed else { return nil }
        let isInvited = error.delivery == .rejected && error.retryAfter != nil
        switch error.kind {
        case .transport(.notConnectedToInternet), .transport(.dataNotAllowed), .transport(.internationalRoamingOff),
            .transport(.callIsActive):
            return nil
        case .status(429): self = isInvited ? .postponed : .throttling
        default: self = isInvited ? .unavailable : .failure
        }
    }
}
