/// Bounds the extra load that the retries of all calls are together.
///
/// Backoff spreads retries, and does not make them fewer: when a server fails because of load, four attempts for each
/// call are four times the load, later. So a server that has gone down for seconds may never come back. A budget is
/// filled by successes and emptied by retries; when most calls fail it is soon empty, and the first attempts are all
/// that a struggling server has to bear.
///
/// ```swift
/// struct NoneInMaintenance: RetryBudget {
///     let isMaintenance: @Sendable () -> Bool
///     func withdraw(_ charge: RetryCharge) -> Bool { !isMaintenance() }
///     func deposit(refunding charge: RetryCharge?) {}
/// }
/// ```
/// Shared by all calls to an origin, from any task: both methods are atomic, and return at once.
public protocol RetryBudget: Sendable {
    /// Takes what one retry costs.
    ///
    /// - Parameter charge: What the retry follows. A budget may ask more for some failures than for others.
    /// - Returns: Whether the retry may be made. When false, nothing was taken.
    func withdraw(_ charge: RetryCharge) -> Bool

    /// Takes note that a call has succeeded.
    ///
    /// - Parameter charge: What the last retry of the call was withdrawn for; nil when none was. A budget may give it
    ///   back, since a retry that succeeds shows that the server bears it.
    func deposit(refunding charge: RetryCharge?)
}

extension RetryBudget {
    /// Takes what a retry after an ordinary failure costs; false when it must not be made.
    public func withdraw() -> Bool { withdraw(.failure) }
    /// Takes note that a call has succeeded without a retry.
    public func deposit() { deposit(refunding: nil) }
}
