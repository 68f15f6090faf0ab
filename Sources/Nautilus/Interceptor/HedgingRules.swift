/// What a call knows of an interceptor's second sends (``HttpInterceptor/hedging``).
public struct HedgingRules: Sendable {
    /// The shortest time between the two sends.
    public var shortestDelay: Duration
    /// The budget that pays for second sends.
    public var budget: RetryBudgetScope
    /// The gate that knows of the pauses ordered by the origin; nil for none.
    public var gate: (any RetryGate)?
    /// The record of how long attempts take; nil for none.
    public var latencies: (any LatencyRecord)?

    /// Creates the rules.
    ///
    /// - Parameters:
    ///   - shortestDelay: The shortest time between the two sends. Less than zero counts as zero.
    ///   - budget: The budget that pays for second sends.
    ///   - gate: The gate that knows of the pauses ordered by the origin. Default: nil, none.
    ///   - latencies: The record of how long attempts take. Default: nil, none.
    public init(
        shortestDelay: Duration,
        budget: RetryBudgetScope,
        gate: (any RetryGate)? = nil,
        latencies: (any LatencyRecord)? = nil
    ) {
        self.shortestDelay = max(.zero, shortestDelay)
        (self.budget, self.gate, self.latencies) = (budget, gate, latencies)
    }
}
