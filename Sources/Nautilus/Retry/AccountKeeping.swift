/// A retrier that notes the call's success in what calls share, where it must not be noted twice.
protocol AccountKeeping: Retrier {
    /// Whether it notes in `latencies` how long the attempt has taken.
    func keeps(_ latencies: OriginLatencies) -> Bool

    /// Takes over what a second send was charged, to have it refunded with its own deposit.
    ///
    /// - Parameters:
    ///   - charge: What for; nil when there was no second send.
    ///   - budget: Where it was withdrawn.
    /// - Returns: False when it deposits elsewhere, and somebody else has to.
    mutating func takeOver(_ charge: RetryCharge?, of budget: RetryBudgetScope) -> Bool
}
