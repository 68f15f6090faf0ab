/// Which calls share a retry budget, and which budget.
public struct RetryBudgetScope: Sendable {
    private let find: @Sendable (HttpOrigin?) -> (any RetryBudget)?
    /// The owner of the budgets, or the one budget; nil when there is none.
    let keeper: (any Sendable)?
    /// Whether there is no budget at all.
    let isUnlimited: Bool

    /// A ``TokenBucketBudget`` for each origin, shared by all calls of the process.
    public static let perOrigin = perOrigin(in: .shared)

    /// A budget for each origin, shared by all that are given the same `budgets`.
    ///
    /// - Parameter budgets: Keep them as the service's own: made anew in every `retrierFactory`, they would not be
    ///   shared.
    public static func perOrigin(in budgets: OriginBudgets) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budgets) { $0.map(budgets.budget) }
    }

    /// One budget, for any origin, shared by all that are given the same.
    ///
    /// - Parameter budget: Keep it as the service's own: made anew in every `retrierFactory`, it would not be shared.
    public static func shared(_ budget: any RetryBudget) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budget) { _ in budget }
    }

    /// No budget: each call retries for itself. For tests, and where something else bounds the load.
    public static let unlimited = RetryBudgetScope(isUnlimited: true) { _ in nil }

    private init(
        keeper: (any Sendable)? = nil,
        isUnlimited: Bool = false,
        find: @escaping @Sendable (HttpOrigin?) -> (any RetryBudget)?
    ) {
        self.keeper = keeper
        self.isUnlimited = isUnlimited
        self.find = find
    }

    /// Whether both lead to the same budgets; nil when it cannot be told.
    func isShared(with other: RetryBudgetScope) -> Bool? {
        if isUnlimited || other.isUnlimited { return isUnlimited && other.isUnlimited }
        guard let own = keeper.flatMap(ObjectIdentifier.init(ofAny:)) else { return nil }
        return other.keeper.flatMap(ObjectIdentifier.init(ofAny:)).map { $0 == own }
    }

    /// The budget for retries to `origin`; nil when there is none.
    func budget(of origin: HttpOrigin?) -> (any RetryBudget)? {
        find(origin)
    }
}
