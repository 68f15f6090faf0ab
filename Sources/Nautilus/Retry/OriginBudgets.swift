/// The budgets of all origins, each made when its origin is first met, shared by all owners of this.
///
/// A service is a value, often made anew for every call, and its budget must not be: the calls of a whole process are
/// one load to the server. So the default budgets are the process's own, ``shared``.
///
/// They are bounded, and stay effective beyond the bound: only a budget that is not drawn on is forgotten, and nothing
/// is lost with it. When all that are kept are drawn on, the origins that come then share one.
public final class OriginBudgets: Sendable {
    /// The process's own: a ``TokenBucketBudget`` for each origin. In a simulation of the test kit they are that
    /// simulation's, so that no other test draws on them.
    public static var shared: OriginBudgets { SharedByOrigin.current.budgets }

    private struct Table: Sendable {
        /// The least recently used first.
        var budgets = LinkedTable<HttpOrigin, any RetryBudget>()
        /// The budget of all origins for which there is no room; nil while there was room for all.
        var overflow: (any RetryBudget)?

        mutating func budget(of origin: HttpOrigin) -> (any RetryBudget)? {
            budgets.withValue(for: origin, movingToEnd: true) { $0 }
        }
    }

    /// How many budgets are looked at for one to forget; those that are drawn on then count as used, so that others are
    /// looked at the next time.
    private static let looks = 8

    private let limit: Int
    private let make: @Sendable (HttpOrigin) -> any RetryBudget
    private let table = Locked(Table())

    /// Creates a registry without budgets.
    ///
    /// - Parameters:
    ///   - limit: How many budgets are kept, at least 1. Default: 1 024, far more than the origins of an app, and some
    ///     hundred kilobytes; a crawler's must not fill the memory.
    ///   - make: Makes the budget of an origin. Called again when it has been forgotten, and now and then for nothing,
    ///     when two calls are the first at once; once for the budget that is shared, with the origin that needs it first.
    public init(limit: Int = 1_024, make: @escaping @Sendable (HttpOrigin) -> any RetryBudget) {
        self.limit = max(1, limit)
        self.make = make
    }

    /// The budget of `origin`, the same for everybody.
    public func budget(of origin: HttpOrigin) -> any RetryBudget {
        let (known, candidates, overflow) = table.withLock { table in
            let known = table.budget(of: origin)
            let isFull = known == nil && table.budgets.count >= limit
            return (known, isFull ? table.budgets.prefix(Self.looks) : [], table.overflow)
        }
        if let known { return known }
        // Asked outside of the lock, and made there, since that is the user's code.
        let forgettable = candidates.first { !$0.value.isDrawnOn }
        if !candidates.isEmpty, forgettable == nil, let overflow {
            table.withLock { table in
                for candidate in candidates { _ = table.budget(of: candidate.key) }
            }
            return overflow
        }
        let made = make(origin)
        return table.withLock { table in
            // The thread that comes second takes the first one's budget.
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

    /// How many budgets are kept now, without the one that is shared.
    var count: Int { table.withLock { $0.budgets.count } }
}

/// What all calls share that name nothing of their own: the process's, and in a simulation of the test kit its own, where
/// a seed decides everything.
package struct SharedByOrigin: Sendable {
    @TaskLocal package static var current = SharedByOrigin()

    let budgets = OriginBudgets { _ in TokenBucketBudget() }
    let latencies: OriginLatencies

    package init(clock: any Clock<Duration> = DefaultClock.current) {
        latencies = OriginLatencies(clock: clock)
    }
}
