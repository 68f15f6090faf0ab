/// Something in the rules of a service, or of a request on it, that cannot work as it is written.
///
/// Made by ``HttpService/diagnose()``. Its description says what is wrong, and what to do.
public enum PolicyFinding: Hashable, Sendable {
    /// All attempts, each as long as its timeout, do not fit before the deadline.
    ///
    /// - Parameters:
    ///   - attempts: How many there may be.
    ///   - timeout: How long each may take.
    ///   - delays: The least time that the delays between them take.
    ///   - deadline: How long the call may take.
    case attemptsDoNotFit(attempts: Int, timeout: Duration, delays: Duration, deadline: Duration)
    /// A cap for `Retry-After` was named that is longer than the call may take, and so has no effect.
    case retryAfterCapBeyondDeadline(cap: Duration, deadline: Duration)
    /// The retriers allow more attempts than the service.
    case attemptsOverCeiling(attempts: Int, ceiling: Int)
    /// Requests are repeated that may then be executed twice.
    case retriesNonIdempotentRequests
    /// Nothing bounds the retries, or the second sends, of all calls together.
    case unlimitedBudget(of: Payee)
    /// Two retriers that are asked in turn deposit each success in the same budget, which then allows twice as much.
    case budgetFilledTwice
    /// The second send would begin when the request's timeout or deadline has passed.
    case hedgeTooLate(after: Duration, limit: Duration)
    /// An object that calls are to share is made anew whenever the service is asked for it, and so is not shared.
    ///
    /// - Parameters:
    ///   - type: The object's.
    ///   - property: The service's property that makes it.
    case madeAnew(type: String, property: String)
    /// An interceptor stands outside of one that has to be outside of it.
    ///
    /// - Parameters:
    ///   - outer: The type of the one that is further out, that is, earlier in `interceptors`.
    ///   - inner: The type of the one that belongs before it.
    ///   - because: Why; see ``InterceptorPlace``.
    case interceptorOrder(outer: String, inner: String, because: String)

    /// The sends that a budget pays for.
    public enum Payee: String, Hashable, Sendable {
        /// The retrier's.
        case retries
        /// The hedging's.
        case hedges
    }
}

extension PolicyFinding: CustomStringConvertible {
    /// The finding, and what to do about it.
    public var description: String {
        switch self {
        case .attemptsDoNotFit(let attempts, let timeout, let delays, let deadline):
            """
            \(attempts) attempts of up to \(timeout.brief)\(delays > .zero ? " and delays of \(delays.brief)" : "") do not \
            fit into a deadline of \(deadline.brief), so that a silent server gets fewer: \
            \(Self.advice(attempts, delays, deadline))
            """
        case .retryAfterCapBeyondDeadline(let cap, let deadline):
            """
            no Retry-After of up to \(cap.brief) is waited for when the deadline is \(deadline.brief): \
            lower `retryAfterCap`, or raise `deadline`
            """
        case .attemptsOverCeiling(let attempts, let ceiling):
            """
            the retriers allow \(attempts) attempts, and the service \(ceiling): \
            raise the service's `maxAttempts`, or lower the retriers'
            """
        case .retriesNonIdempotentRequests:
            """
            a POST that the server may have executed is repeated, and executed twice: \
            leave `retriesNonIdempotentRequests` false, and send an `Idempotency-Key`
            """
        case .unlimitedBudget(let payee):
            """
            nothing bounds the \(payee.rawValue) of all calls together, which may hold a struggling server down: \
            leave `budget` at its default, or share one
            """
        case .budgetFilledTwice:
            """
            two retriers note each success in the same budget, which then allows twice as much: \
            keep one of them, or give each a budget of its own
            """
        case .hedgeTooLate(let delay, let limit):
            """
            a second send after \(delay.brief) comes too late for a limit of \(limit.brief): \
            hedge earlier, raise the limit, or set `allowsHedging` to false
            """
        case .madeAnew(let type, let property):
            """
            \(type) is made anew whenever `\(property)` is read, so that no two calls share it: \
            keep it in a stored property
            """
        case .interceptorOrder(let outer, let inner, let reason):
            "\(inner) belongs before \(outer) in `interceptors`: \(reason)"
        }
    }

    private static func advice(_ attempts: Int, _ delays: Duration, _ deadline: Duration) -> String {
        let timeout = (deadline - delays) / max(1, attempts)
        guard timeout >= .milliseconds(1) else { return "lower `maxAttempts`, or raise `deadline`" }
        return "lower `timeout` to \(timeout.brief) or less, or `maxAttempts`, or raise `deadline`"
    }
}
