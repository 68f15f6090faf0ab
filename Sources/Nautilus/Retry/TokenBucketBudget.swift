/// A budget with a bucket of tokens, as gRPC has it: sized for fleets of small clients, such as apps.
///
/// A retry takes a token, a success brings a tenth of one, and no retry is made while half of the bucket or less is
/// left. So a client makes five retries into an outage, and then one for every ten successes: in all, never more than
/// `capacity / 2 + 1` retries and a tenth of its successes.
///
/// It has no clock: time without successes does not tell that the server is well again.
///
/// Source: gRPC proposal A6, "Throttling Retry Attempts and Hedged RPCs", where a failure takes the token and not the
/// retry that follows it.
public final class TokenBucketBudget: RetryBudget {
    // In thousandths of a token, as gRPC counts: a sum of tenths as `Double`s is never quite a whole token.
    private let capacity: Int
    private let depositOfSuccess: Int
    private let tokens: Locked<Int>

    /// What a retry takes.
    private static let cost = 1000

    /// Creates a budget with a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: How many tokens the bucket holds; at least 0, at most 1 000 000. Default: 10, so that a client can
    ///     make five retries before it has had a success, more than one call has by default.
    ///   - depositOfSuccess: What a success brings, in tokens, down to thousandths; at least 0, at most `capacity`.
    ///     Default: 0.1: in the long run, retries add at most a tenth to the load that succeeds.
    public init(capacity: Int = 10, depositOfSuccess: Double = 0.1) {
        let capacity = max(0, min(capacity, 1_000_000))
        self.capacity = capacity * Self.cost
        // A comparison with NaN is false, so that it ends as 0.
        let deposit = depositOfSuccess > 0 ? min(depositOfSuccess, Double(capacity)) : 0
        self.depositOfSuccess = Int((deposit * Double(Self.cost)).rounded())
        self.tokens = Locked(capacity * Self.cost)
    }

    /// How many tokens there are now.
    public var balance: Double { Double(tokens.withLock { $0 }) / Double(Self.cost) }

    /// Whether a token is missing.
    public var isDrawnOn: Bool { tokens.withLock { $0 } < capacity }

    /// Takes a token, unless half of the bucket or less is left; every retry costs the same.
    public func withdraw(_ charge: RetryCharge) -> RetryPermit? {
        let isPaid = tokens.withLock { tokens in
            guard tokens > capacity / 2, tokens >= Self.cost else { return false }
            tokens -= Self.cost
            return true
        }
        return isPaid ? RetryPermit(from: self, for: charge) { self.add(Self.cost) } : nil
    }

    /// Adds what a success brings; nothing is refunded.
    public func deposit(refunding charge: RetryCharge?) {
        add(depositOfSuccess)
    }

    private func add(_ amount: Int) {
        tokens.withLock { $0 = min(capacity, $0 + amount) }
    }
}
