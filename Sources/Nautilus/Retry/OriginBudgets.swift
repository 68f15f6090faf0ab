/// The budgets of all origins, each made when its origin is first met: shared by whoever shares this.
///
/// A service is a value, often made anew for every call, and its budget must not be: the calls of a whole process are
/// one load to the server. So the default budgets are the process's own, ``shared``.
public final class OriginBudgets: Sendable {
    /// The process's own: a ``TokenBucketBudget`` for each origin.
    public static let shared = OriginBudgets { _ in TokenBucketBudget() }

    private let make: @Sendable (HttpOrigin) -> any RetryBudget
    private let budgets: Locked<RecentlyUsed<HttpOrigin, any RetryBudget>>

    /// Creates a registry without budgets.
    ///
    /// - Parameters:
    ///   - limit: How many budgets are kept, at least 1; beyond it the least recently used is forgotten, and begins anew.
    ///     Default: 128, more than the origins of an app; a crawler's must not fill the memory.
    ///   - make: Makes the budget of an origin. Called again when it has been forgotten, and now and then for nothing,
    ///     when two calls are the first at once.
    public init(limit: Int = 128, make: @escaping @Sendable (HttpOrigin) -> any RetryBudget) {
        self.budgets = Locked(RecentlyUsed(limit: limit))
        self.make = make
    }

    /// The budget of `origin`, the same for everybody.
    public func budget(of origin: HttpOrigin) -> any RetryBudget {
        if let budget = budgets.withLock({ $0.value(for: origin) }) { return budget }
        // Outside of the lock, since it is the user's code; whoever comes second takes what the first has made.
        let made = make(origin)
        return budgets.withLock { budgets in
            var budget = made
            budgets.update(origin, default: made) { budget = $0 }
            return budget
        }
    }

    /// How many budgets are kept now.
    var count: Int { budgets.withLock { $0.count } }
}
