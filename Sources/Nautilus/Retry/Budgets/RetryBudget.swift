/// Bounds the extra load that the retries of all calls add up to.
///
/// Backoff spreads retries but does not reduce their number. A budget is filled by successes and emptied by retries, so
/// a server that fails because of load soon gets only first attempts; the guide `WhyBudgets` shows the difference. The
/// default is a ``TokenBucketBudget`` for each origin (``RetryBudgetScope/perOrigin``).
/// ```swift
/// final class NoRetries: RetryBudget {
///     func withdraw(_ reason: RetryCost.Reason) -> Bool { false }
///     func deposit(refunding reason: RetryCost.Reason?) {}
/// }
/// ```
/// Shared by all calls of its scope, from any task: both methods are atomic, and return at once.
public protocol RetryBudget: AnyObject, Sendable {
    /// Takes the cost of one retry.
    ///
    /// - Parameter reason: The failure that the retry follows. A budget may charge more for some failures than for
    ///   others.
    /// - Returns: Whether the retry may be made; if not, nothing was taken.
    func withdraw(_ reason: RetryCost.Reason) -> Bool

    /// Notes that a call has succeeded.
    ///
    /// - Parameter reason: The reason of the call's last retry; nil when there was none. A budget may refund it, since
    ///   a retry that succeeds shows that the server can bear it.
    func deposit(refunding reason: RetryCost.Reason?)

    /// Whether the budget now allows fewer retries than a new one would. ``OriginBudgets`` never forgets such a budget.
    ///
    /// Default: true, so that the budget is kept forever; implement this where there are many origins.
    var isDrawnOn: Bool { get }
}

extension RetryBudget {
    /// True.
    public var isDrawnOn: Bool { true }
    /// Takes the cost of a retry after an ordinary failure; false when the retry must not be made.
    public func withdraw() -> Bool { withdraw(.failure) }
    /// Notes that a call has succeeded without a retry.
    public func deposit() { deposit(refunding: nil) }
}

/// The cost of a retry, and the budget that pays it.
///
/// Paid when the retry has been decided on, and not given back if its call is cancelled before the retry is sent.
public struct RetryCost: Sendable {
    /// The budget that pays.
    public let budget: any RetryBudget
    /// The reason of the retry, by which the budget decides its cost.
    public let reason: RetryCost.Reason

    /// Creates a cost, without paying it.
    public init(from budget: any RetryBudget, for reason: RetryCost.Reason = .failure) {
        (self.budget, self.reason) = (budget, reason)
    }

    /// Pays; false when the budget refuses.
    package func pay() -> Bool { budget.withdraw(reason) }
}

extension RetryCost {
    /// The reason for one more request, by which a budget decides its cost; mostly the failure that a retry follows.
    public enum Reason: Hashable, Sendable {
        /// A 429 that says when to come back: the server is well, and has merely enforced a rule.
        case postponed
        /// Any other answer, such as 503 with `Retry-After`, by which the server has refused the request unprocessed, and
        /// said when to come back. It may be the limit of a fleet, or a server at the end of its strength.
        case unavailable
        /// A 429 that does not say when to come back.
        case throttling
        /// Any other failure.
        case failure
        /// No failure at all: a slow attempt is sent a second time, see `Hedging`. It costs as much as a retry after a
        /// failure, but its success shows less: a slow server may have answered both.
        case hedge

        /// Whether the server has refused the request unprocessed, and said when to come back.
        package var isRequested: Bool { self == .postponed || self == .unavailable }

        /// The reason of a retry after `error`; nil when the retry is free.
        ///
        /// A request that found no network, or that was held back here, has not reached any server; its retry is the first
        /// that can be a load on one. Nor is it a failure of a call when a stream reconnects, a second
        /// apart at least in the long run.
        init?(after error: HttpError) {
            guard !error.isRefusal, !error.isReconnect else { return nil }
            let isRequested = error.delivery == .rejected && error.retryAfter != nil
            switch error.kind {
            case .transport(.notConnectedToInternet), .transport(.dataNotAllowed), .transport(.internationalRoamingOff),
                .transport(.callIsActive):
                return nil
            case .status(429): self = isRequested ? .postponed : .throttling
            default: self = isRequested ? .unavailable : .failure
            }
        }
    }
}
