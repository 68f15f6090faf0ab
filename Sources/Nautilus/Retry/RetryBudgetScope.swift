/// Which calls share a retry budget, and which budget.
public struct RetryBudgetScope: Sendable {
    private let find: @Sendable (HttpOrigin?) -> (any RetryBudget)?

    /// A ``TokenBucketBudget`` for each origin, shared by all calls of the process.
    public static let perOrigin = perOrigin(in: .shared)

    /// A budget for each origin, shared by all that are given the same `budgets`.
    ///
    /// - Parameter budgets: Keep them as the service's own: made anew in every `retrierFactory`, they would be shared by
    ///   nobody.
    public static func perOrigin(in budgets: OriginBudgets) -> RetryBudgetScope {
        RetryBudgetScope { $0.map(budgets.budget) }
    }

    /// One budget, whatever the origin, shared by all that are given the same.
    ///
    /// - Parameter budget: Keep it as the service's own: made anew in every `retrierFactory`, it would be shared by
    ///   nobody.
    public static func shared(_ budget: any RetryBudget) -> RetryBudgetScope {
        RetryBudgetScope { _ in budget }
    }

    /// No budget: each call retries for itself. For tests, and where something else bounds the load.
    public static let unlimited = RetryBudgetScope { _ in nil }

    /// The budget for retries to `origin`; nil when there is none.
    func budget(of origin: HttpOrigin?) -> (any RetryBudget)? {
        find(origin)
    }
}
