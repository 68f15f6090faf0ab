/// The limits of retriers of one kind, by which a service is checked before anything is sent.
///
/// A factory of your own describes its retriers by it:
/// ```swift
/// struct Twice: RetrierFactory {
///     func create<R: Request>(for request: R) -> any Retrier { TwiceRetrier() }
///     var policies: [RetryPolicy] { [RetryPolicy(maxAttempts: 2)] }
/// }
/// ```
public struct RetryPolicy: Sendable {
    /// The most attempts of a call, the first included.
    public var maxAttempts: Int
    /// The least that all delays together take when every retry is made.
    public var shortestDelays: Duration
    /// The longest `Retry-After` that is waited for; nil when it is ignored, or when any is waited for.
    public var retryAfterCap: Duration?
    /// Whether requests are repeated that may then be executed twice.
    public var retriesNonIdempotentRequests: Bool
    /// The budgets that pay for the retries; nil when the retriers know none.
    public var budget: RetryBudgetScope?
    /// The gate that holds back the retries; nil for none.
    public var gate: (any RetryGate)?
    /// The record of how long attempts take; nil for none.
    public var latencies: OriginLatencies?

    /// Describes retriers.
    ///
    /// - Parameters:
    ///   - maxAttempts: The most attempts of a call, the first included. Less than 1 counts as 1.
    ///   - shortestDelays: The least that all delays together take. Default: zero, as with full jitter.
    ///   - retryAfterCap: The longest `Retry-After` that is waited for. Default: nil, none or any.
    ///   - retriesNonIdempotentRequests: Whether requests may be executed twice. Default: false.
    ///   - budget: The budgets that pay for the retries. Default: nil, the retriers know none.
    ///   - gate: The gate that holds back the retries. Default: nil, none.
    ///   - latencies: The record of how long attempts take. Default: nil, none.
    public init(
        maxAttempts: Int,
        shortestDelays: Duration = .zero,
        retryAfterCap: Duration? = nil,
        retriesNonIdempotentRequests: Bool = false,
        budget: RetryBudgetScope? = nil,
        gate: (any RetryGate)? = nil,
        latencies: OriginLatencies? = nil
    ) {
        self.maxAttempts = max(1, maxAttempts)
        self.shortestDelays = max(.zero, shortestDelays)
        self.retryAfterCap = retryAfterCap
        self.retriesNonIdempotentRequests = retriesNonIdempotentRequests
        self.budget = budget
        self.gate = gate
        self.latencies = latencies
    }
}

extension Collection where Element == RetryPolicy {
    /// The most attempts of a call, the first included: one retrier's retries do not use up another's.
    var maxAttempts: Int {
        // Saturating: a limit of `Int.max` means that there is none.
        reduce(1) { attempts, policy in
            let (sum, overflows) = attempts.addingReportingOverflow(policy.maxAttempts - 1)
            return overflows ? .max : sum
        }
    }
}
