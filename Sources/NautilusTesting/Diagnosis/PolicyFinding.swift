import Nautilus

/// Something in the rules of a service, or of a request that it sends, that cannot work as it is written.
///
/// Made by `HttpService.diagnose()`. Its description says what is wrong, and what to do.
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
        case .notTheRule(let property, let owner, let rule):
            NearMiss(property: property, of: owner, rule: rule).description
        case .authorizationBehindRetries:
            """
            a 401 is answered by sending the rejected credential again, and not by a refresh: \
            put the retrier that authorizes first in `.composed`
            """
        case .credentialInHeader(let name):
            """
            `\(name)` in `header` goes out with every request and is not refreshed when the server rejects it: \
            have a retrier put it on, made by `authorization` of a `RefreshCoordinator` or a session
            """
        case .separatorInRoute(let component):
            """
            component \(component) of the route contains `/` or `?`, which goes out as %2F or %3F: write one component for \
            each part of the path, and what follows the `?` into `query`
            """
        case .plainHttp(let origin):
            """
            calls go over plain http to \(origin), and everybody on the way can read and change them: \
            begin the base URL with https://, or leave `usesSecureProtocol` true
            """
        }
    }

    private static func advice(_ attempts: Int, _ delays: Duration, _ deadline: Duration) -> String {
        let timeout = (deadline - delays) / max(1, attempts)
        guard timeout >= .milliseconds(1) else { return "lower `maxAttempts`, or raise `deadline`" }
        return "lower `timeout` to \(timeout.brief) or less, or `maxAttempts`, or raise `deadline`"
    }
}
