/// Something in the rules of a service, or of a request that it sends, that cannot work as it is written.
///
/// Made by ``HttpService/diagnose()``. Its description says what is wrong, and what to do.
public enum PolicyFinding: Hashable, Sendable {
    /// The attempts, if each lasts as long as its timeout, do not fit before the deadline.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts there may be.
    ///   - timeout: How long each attempt may take.
    ///   - delays: The least time that the delays between attempts take.
    ///   - deadline: How long the call may take.
    case attemptsDoNotFit(attempts: Int, timeout: Duration, delays: Duration, deadline: Duration)
    /// The cap for `Retry-After` is longer than the call may take, and so has no effect.
    case retryAfterCapBeyondDeadline(cap: Duration, deadline: Duration)
    /// The retriers allow more attempts than the service.
    case attemptsOverCeiling(attempts: Int, ceiling: Int)
    /// Requests are repeated that the server may then execute twice.
    case retriesNonIdempotentRequests
    /// Nothing bounds the retries, or the second sends, of all calls together.
    case unlimitedBudget(of: Payee)
    /// Two retriers that are asked in turn deposit each success in the same budget, which then allows twice as much.
    case budgetFilledTwice
    /// The second send would begin only after the request's timeout or deadline has passed.
    case hedgeTooLate(after: Duration, limit: Duration)
    /// An object that calls should share is created anew whenever the service is asked for it, and so is not shared.
    ///
    /// - Parameters:
    ///   - type: The object's type.
    ///   - property: The service's property that makes it.
    case madeAnew(type: String, property: String)
    /// A stored property looks like a rule of the protocol but has another type or name, so that the rule keeps its
    /// default.
    ///
    /// - Parameters:
    ///   - property: The stored property, with its type.
    ///   - of: The type that has it, a service or a request.
    ///   - rule: The rule, with the type to declare it with.
    case notTheRule(property: String, of: String, rule: String)
    /// A retrier that authorizes comes after one that repeats after a 401, and so sends the rejected credential again.
    case authorizationBehindRetries
    /// A field of the service's `header` carries a credential. The finding has its name, never its value.
    case credentialInHeader(HttpHeader.Name)
    /// A component of the route, counted from 0, contains `/` or `?`, which are taken as data and percent-encoded.
    case separatorInRoute(component: Int)
    /// A base URL is plain `http`, and its host is another machine.
    case plainHttp(HttpOrigin)

    /// The sends that a budget pays for.
    public enum Payee: String, Hashable, Sendable {
        /// Retries, which the retrier orders.
        case retries
        /// Second sends, which hedging orders.
        case hedges
    }
}
