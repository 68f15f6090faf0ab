/// A budget with a bucket of tokens, as gRPC has it: sized for fleets of small clients, such as apps.
///
/// A retry takes a token, a call that succeeds by a retry gives its token back, every success brings a fifth of one, and no
/// retry is made while half of the bucket or less is left. So a client makes five retries into an outage, and then one for
/// every five successes: in all, never more than `capacity / 2 + 1` retries in vain and a fifth of its successes. A server
/// that is well, and loses one request in five, bears all the retries that it takes.
///
/// Retries that the server has asked for, by refusing the request unprocessed and saying when to come back, have a
/// second bucket of the same size, and take nothing from the first: a tenth of a token after a 429, which is a healthy
/// server's rule, a whole one after a 503, which may be the last thing that a server in trouble can say. So a hundred
/// calls that meet a limit can wait for it, and into an outage whose every answer is `503` with `Retry-After` a client
/// makes no more than `capacity` such retries, each later than the server has said.
///
/// The token of a second send, see ``Hedging``, is not given back: a server that is slow answers both, and does not bear more
/// for it.
///
/// It has no clock: time without successes does not tell that the server is well again.
///
/// Source: gRPC proposal A6, "Throttling Retry Attempts and Hedged RPCs", where a failure takes the token and not the
/// retry that follows it, none comes back, and a success brings a tenth; the second bucket is Nautilus's own. As in the AWS
/// SDKs, a success gives back what its retry took; see ``QuotaBudget``.
public final class TokenBucketBudget: RetryBudget {
    // In thousandths of a token, as gRPC counts: a sum of tenths as `Double`s is never quite a whole token.
    private struct Buckets: Sendable {
        var tokens: Int
        /// For retries that the server has asked for.
        var patience: Int
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
    ///     make five retries before it has had a success, more than one call has by default. Clients that make few calls
    ///     are many, and with 40 a thousand of them would keep a server down for eight seconds longer.
    ///   - depositOfSuccess: The deposit of a success, in tokens, down to thousandths; at least 0, at most `capacity`.
    ///     Default: 0.2: in the long run, retries in vain add at most a fifth to the load that succeeds. With the 0.1 of
    ///     gRPC, of 200 calls that are made at once to a server that fails one request in five, 3 % end for want of a
    ///     token, and with 0.2 fewer than 1 %.
    public init(capacity: Int = 10, depositOfSuccess: Double = 0.2) {
        let capacity = max(0, min(capacity, 1_000_000))
        self.capacity = capacity * Self.cost
        // A comparison with NaN is false, so that it ends as 0.
        let deposit = depositOfSuccess > 0 ? min(depositOfSuccess, Double(capacity)) : 0
        self.depositOfSuccess = Int((deposit * Double(Self.cost)).rounded())
        self.buckets = Locked(Buckets(tokens: self.capacity, patience: self.capacity))
    }

    /// How many tokens there are now.
    public var balance: Double { Double(buckets.withLock { $0.tokens }) / Double(Self.cost) }

    /// How many tokens there are now for retries that the server has asked for.
    public var patience: Double { Double(buckets.withLock { $0.patience }) / Double(Self.cost) }

    /// Whether any are missing.
    public var isDrawnOn: Bool { buckets.withLock { min($0.tokens, $0.patience) } < capacity }

    /// Takes a token, unless half of the bucket or less is left; for a retry that the server has asked for, its cost
    /// from the second bucket, unless there is less.
    public func withdraw(_ charge: RetryCharge) -> RetryPermit? {
        let cost = Self.cost(of: charge)
        let isPaid = buckets.withLock { buckets in
            guard charge.isInvited else {
                guard buckets.tokens > capacity / 2, buckets.tokens >= cost else { return false }
                buckets.tokens -= cost
                return true
            }
            guard buckets.patience >= cost else { return false }
            buckets.patience -= cost
            return true
        }
        guard isPaid else { return nil }
        return RetryPermit(from: self, for: charge) {
            charge.isInvited ? self.add(toPatience: cost) : self.add(toTokens: cost)
        }
    }

    /// Adds the deposit of a success, and the cost of the call's last retry.
    public func deposit(refunding charge: RetryCharge?) {
        var (tokens, patience) = (depositOfSuccess, depositOfSuccess)
        switch charge {
        case .postponed?, .unavailable?: patience += charge.map(Self.cost) ?? 0
        case .throttling?, .failure?: tokens += charge.map(Self.cost) ?? 0
        case .hedge?, nil: break
        }
        add(toTokens: tokens, toPatience: patience)
    }

    private func add(toTokens amount: Int = 0, toPatience patience: Int = 0) {
        buckets.withLock { buckets in
            buckets.tokens = min(capacity, buckets.tokens + amount)
            buckets.patience = min(capacity, buckets.patience + patience)
        }
    }

    private static func cost(of charge: RetryCharge) -> Int {
        charge == .postponed ? cost / 10 : cost
    }
}
