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

/// The budget that bounds retries, and the calls that share it.
public struct RetryBudgetScope: Sendable {
    private let find: @Sendable (HttpOrigin?) -> (any RetryBudget)?
    private let findKeeper: @Sendable () -> (any Sendable)?

    /// A ``TokenBucketBudget`` for each origin, shared by all calls of the process, or of the simulation; the budgets
    /// are those of ``OriginBudgets/shared``.
    public static let perOrigin = RetryBudgetScope(keeper: OriginBudgets.shared) {
        $0.map(OriginBudgets.shared.budget)
    }

    /// A budget for each origin, shared by all calls that are given the same `budgets`.
    ///
    /// - Parameter budgets: Keep them as the service's own: if each `retrierFactory` made new ones, they would not be
    ///   shared.
    public static func perOrigin(in budgets: OriginBudgets) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budgets) { $0.map(budgets.budget) }
    }

    /// One budget for all origins, shared by all calls that are given the same `budget`.
    ///
    /// - Parameter budget: Keep it as the service's own: if each `retrierFactory` made a new one, it would not be
    ///   shared.
    public static func shared(_ budget: any RetryBudget) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budget) { _ in budget }
    }

    /// No budget: each call retries for itself. For tests, and where something else bounds the load.
    public static let unlimited = RetryBudgetScope { _ in nil }

    private init(
        keeper: @autoclosure @escaping @Sendable () -> (any Sendable)? = nil,
        find: @escaping @Sendable (HttpOrigin?) -> (any RetryBudget)?
    ) {
        self.findKeeper = keeper
        self.find = find
    }

    /// The owner of the budgets, or the one budget; nil when there is none.
    package var keeper: (any Sendable)? { findKeeper() }

    /// The budget for retries to `origin`; nil when there is none.
    package func budget(of origin: HttpOrigin?) -> (any RetryBudget)? {
        find(origin)
    }
}
