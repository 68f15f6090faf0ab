/// A budget with a bucket of tokens, as in gRPC: sized for fleets of small clients, such as apps.
///
/// A retry takes a token, and is not made when half of the bucket or less is left. A call that succeeds by a retry gets
/// its token back, and every success adds a fifth of one. So a client makes five retries in an outage, and then one for
/// every five successes. The token of a second send, see `Hedging`, is not given back. The budget has no clock: time
/// without successes does not show that the server is well again.
///
/// Retries that the server has asked for, by refusing the request unprocessed and saying when to come back, take from a
/// second bucket of the same size: a tenth of a token after a 429, and a whole one otherwise.
///
/// Source: gRPC proposal A6, "Throttling Retry Attempts and Hedged RPCs". The guide `RetriersInDepth` says where this
/// budget differs from it, and why.
public final class TokenBucketBudget: RetryBudget {
    // In thousandths of a token, as gRPC counts: a sum of tenths as `Double`s is never quite a whole token.
    private struct Buckets: Sendable {
        var tokens: Int
        /// The bucket for retries that the server has asked for.
        var requested: Int
    }

    private let capacity: Int
    private let depositOfSuccess: Int
    private let buckets: Locked<Buckets>

    /// The cost of a retry, in thousandths of a token.
    private static let cost = 1000

    /// Creates a budget with a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: How many tokens the bucket holds; at least 0, at most 1 000 000. Default: 10, so that a client can
    ///     make five retries before its first success, more than one call makes by default. Clients that make few calls
    ///     are numerous, and with 40 tokens each, a thousand of them would keep a server down for eight seconds longer.
    ///   - depositOfSuccess: The deposit of a success, in tokens, to thousandths; at least 0, at most `capacity`.
    ///     Default: 0.2: in the long run, futile retries add at most a fifth to the load that succeeds. Of 200 calls
    ///     made at once to a server that fails one request in five, 3 % fail for lack of a token with gRPC's 0.1, and
    ///     fewer than 1 % with 0.2.
    public init(capacity: Int = 10, depositOfSuccess: Double = 0.2) {
        let capacity = max(0, min(capacity, 1_000_000))
        self.capacity = capacity * Self.cost
        // A comparison with NaN is false, so NaN counts as 0.
        let deposit = depositOfSuccess > 0 ? min(depositOfSuccess, Double(capacity)) : 0
        self.depositOfSuccess = Int((deposit * Double(Self.cost)).rounded())
        self.buckets = Locked(Buckets(tokens: self.capacity, requested: self.capacity))
    }

    /// How many tokens there are now.
    public var balance: Double { Double(buckets.withLock { $0.tokens }) / Double(Self.cost) }

    /// How many tokens there are now for retries that the server has asked for.
    public var requestedBalance: Double { Double(buckets.withLock { $0.requested }) / Double(Self.cost) }

    /// Whether any tokens are missing.
    public var isDrawnOn: Bool { buckets.withLock { min($0.tokens, $0.requested) } < capacity }

    /// Takes a token, unless half of the bucket or less is left. For a retry that the server has asked for, takes its
    /// cost from the second bucket, unless less is left there.
    public func withdraw(_ reason: RetryCost.Reason) -> Bool {
        let cost = Self.cost(of: reason)
        return buckets.withLock { buckets in
            guard reason.isRequested else {
                guard buckets.tokens > capacity / 2, buckets.tokens >= cost else { return false }
                buckets.tokens -= cost
                return true
            }
            guard buckets.requested >= cost else { return false }
            buckets.requested -= cost
            return true
        }
    }

    /// Adds the deposit of a success, and refunds the call's last retry.
    public func deposit(refunding reason: RetryCost.Reason?) {
        var (tokens, requested) = (depositOfSuccess, depositOfSuccess)
        switch reason {
        case .postponed?, .unavailable?: requested += reason.map(Self.cost) ?? 0
        case .throttling?, .failure?: tokens += reason.map(Self.cost) ?? 0
        case .hedge?, nil: break
        }
        buckets.withLock { [tokens, requested] buckets in
            buckets.tokens = min(capacity, buckets.tokens + tokens)
            buckets.requested = min(capacity, buckets.requested + requested)
        }
    }

    private static func cost(of reason: RetryCost.Reason) -> Int {
        reason == .postponed ? cost / 10 : cost
    }
}
