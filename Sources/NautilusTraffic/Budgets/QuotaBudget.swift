import Nautilus

/// A budget with a quota, as in the AWS SDKs' standard mode: sized for servers that make many calls.
///
/// Each retry takes its cost. A successful call gives back the cost of its last retry, or 1 when it had none: an outage
/// uses the quota up in 35 retries, while one bad moment costs next to nothing.
///
/// Source: "Retry behavior", AWS SDKs and Tools Reference Guide.
public final class QuotaBudget: RetryBudget {
    private let capacity: Int
    private let initial: Int
    private let cost: Int
    private let throttlingCost: Int
    private let quota: Locked<Int>

    /// Creates a budget; negative parameters count as 0.
    ///
    /// - Parameters:
    ///   - capacity: The largest balance. Default: 500, as in the SDKs: some dozens of retries in a row.
    ///   - initial: The initial balance, at most `capacity`. Default: nil, all of `capacity`.
    ///   - cost: The cost of a retry. Default: 14, as in the SDKs: 35 retries without a success.
    ///   - throttlingCost: The cost of a retry after 429. Default: 5, as in the SDKs: a server that still answers, and
    ///     says when it has had enough, is in less danger than one that fails, and such retries wait longer.
    public init(capacity: Int = 500, initial: Int? = nil, cost: Int = 14, throttlingCost: Int = 5) {
        self.capacity = max(0, capacity)
        self.cost = max(0, cost)
        self.throttlingCost = max(0, throttlingCost)
        self.initial = max(0, min(initial ?? capacity, capacity))
        self.quota = Locked(self.initial)
    }

    /// The balance now.
    public var balance: Int { quota.withLock { $0 } }

    /// Whether the balance is lower than the initial one.
    public var isDrawnOn: Bool { balance < initial }

    /// Takes the cost of the retry, unless the balance is lower.
    public func withdraw(_ reason: RetryCost.Reason) -> Bool {
        let cost = cost(of: reason)
        return quota.withLock { quota in
            guard quota >= cost else { return false }
            quota -= cost
            return true
        }
    }

    /// Gives back the cost of the call's last retry, or 1 when it had none.
    public func deposit(refunding reason: RetryCost.Reason?) {
        let amount = reason.map(cost) ?? 1
        // Compared before adding: a capacity of `Int.max` must not overflow.
        quota.withLock { $0 = capacity - $0 > amount ? $0 + amount : capacity }
    }

    private func cost(of reason: RetryCost.Reason) -> Int {
        switch reason {
        case .postponed, .throttling: throttlingCost
        case .unavailable, .failure, .hedge: cost
        }
    }
}
