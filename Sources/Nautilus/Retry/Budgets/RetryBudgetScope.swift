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

/// The budgets of all origins, each created at the first request to its origin, and shared by all holders of this
/// object.
///
/// A service is a value, often made anew for every call, but its budget must not be: the calls of a whole process are
/// one load to the server. So the default budgets are the process's own, ``shared``.
///
/// Their number is bounded, and they stay effective beyond the bound: only a budget that is not drawn on is forgotten,
/// so nothing is lost. When all budgets that are kept are drawn on, further origins share one.
public final class OriginBudgets: Sendable {
    /// The process's own registry, with a ``TokenBucketBudget`` for each origin. A simulation of the test kit has a
    /// registry of its own, so that no other test draws on its budgets.
    public static var shared: OriginBudgets { ofProcess.value }

    private static let ofProcess = OnePerProcess { OriginBudgets { _ in TokenBucketBudget() } }

    private struct Table: Sendable {
        /// The budgets, the least recently used first.
        var budgets = LinkedTable<HttpOrigin, any RetryBudget>()
        /// The budget shared by all origins for which there is no room; nil until it is needed.
        var overflow: (any RetryBudget)?

        mutating func budget(of origin: HttpOrigin) -> (any RetryBudget)? {
            budgets.withValue(for: origin, movingToEnd: true) { $0 }
        }
    }

    /// How many budgets are examined to find one to forget. Those that are drawn on then count as used, so that the
    /// next search examines others.
    private static let looks = 8

    private let limit: Int
    private let make: @Sendable (HttpOrigin) -> any RetryBudget
    private let table = Locked(Table())

    /// Creates a registry without budgets.
    ///
    /// - Parameters:
    ///   - limit: How many budgets are kept, at least 1. Default: 1 024, far more than the origins of an app, and some
    ///     hundred kilobytes; a crawler's many origins must not fill the memory.
    ///   - make: Makes the budget of an origin. Called again when the budget has been forgotten, and occasionally for
    ///     nothing, when two first calls come at once. The shared budget is made for the first origin that needs it.
    public init(limit: Int = 1_024, make: @escaping @Sendable (HttpOrigin) -> any RetryBudget) {
        self.limit = max(1, limit)
        self.make = make
    }

    /// The budget of `origin`, the same for all callers.
    public func budget(of origin: HttpOrigin) -> any RetryBudget {
        let (known, candidates, overflow) = table.withLock { table in
            let known = table.budget(of: origin)
            let isFull = known == nil && table.budgets.count >= limit
            return (known, isFull ? table.budgets.prefix(Self.looks) : [], table.overflow)
        }
        if let known { return known }
        // This calls the user's code, so it happens outside of the lock.
        let forgettable = candidates.first { !$0.value.isDrawnOn }
        if !candidates.isEmpty, forgettable == nil, let overflow {
            table.withLock { table in
                for candidate in candidates { _ = table.budget(of: candidate.key) }
            }
            return overflow
        }
        let made = make(origin)
        return table.withLock { table in
            // If another thread was first, its budget is used.
            if let known = table.budget(of: origin) { return known }
            for candidate in candidates { _ = table.budget(of: candidate.key) }
            if let forgettable { table.budgets.removeValue(for: forgettable.key) }
            if table.budgets.count < limit {
                table.budgets.append(made, for: origin)
                return made
            }
            let overflow = table.overflow ?? made
            table.overflow = overflow
            return overflow
        }
    }

    /// How many budgets are kept now, not counting the shared one.
    var count: Int { table.withLock { $0.budgets.count } }
}
