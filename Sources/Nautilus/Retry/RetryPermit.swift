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

/// The reason for one more request, by which a budget decides its cost: mostly the kind of failure that a retry follows.
public enum RetryCharge: Hashable, Sendable {
    /// A 429 that says when to come back: the server is well, and has refused the request by a rule of its own.
    case postponed
    /// Any other answer by which the server has refused the request unprocessed, and said when to come back: 503 with
    /// `Retry-After`. It may be the limit of a fleet, or the end of its strength.
    case unavailable
    /// A 429 that does not say when to come back.
    case throttling
    /// Any other failure.
    case failure
    /// No failure at all: a slow attempt is sent a second time, see ``Hedging``. It costs as much as a retry after a
    /// failure, and its success shows less: a slow server may have answered both.
    case hedge

    /// Whether the server has refused the request unprocessed, and said when to come back.
    var isInvited: Bool { self == .postponed || self == .unavailable }

    /// Creates the charge of a retry after `error`; nil when it is free.
    ///
    /// A request that found no network, or that was held back here, has reached no server, so that the retry is the first
    /// that can be a load on it. And the end of a stream's connection that had served is no failure.
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
