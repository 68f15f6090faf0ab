/// Sends a request that is slow a second time, takes the first good answer, and cancels the other send.
///
/// Most requests are quick, and a few are slow for no reason of their own: they have met a busy instance, a pause of
/// its memory, a lost packet. A second send meets another one, most likely. It costs one request in twenty and spares
/// the caller the slowest twentieth of the answers.
///
/// ```swift
/// struct NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var hedging: Hedging? { Hedging(after: .observed()) }
/// }
/// ```
/// - Only requests that may be repeated are sent twice: of an idempotent method or with an `Idempotency-Key`, without a
///   stream for a body. A request opts out by `Request.allowsHedging`.
/// - The second send is of the same attempt: the same request, credential and key, within the same timeout, counted
///   from the first send.
/// - The first answer of an accepted status wins. A failure of one while the other is under way waits for that one, but
///   for an answer to GET, HEAD, OPTIONS or TRACE that the other send would get as well, such as 404. When both fail,
///   the failure of the first is the attempt's, unless the server has said more to the second: a status in place of
///   none, or a longer `Retry-After`.
/// - The send that has lost is cancelled, and not waited for. What either may have done counts for the attempt's
///   delivery.
/// - Never one that makes it worse: it is paid for by the retry budget, and not made while the origin has ordered a
///   pause, when it has less time than attempts usually take, or when `Pacing`, `ConcurrencyLimit` or `CircuitBreaker`
///   would hold back another request.
public struct Hedging: Sendable {
    /// How long an attempt may take before it counts as slow. Waiting for a free connection does not count: a second
    /// send would stand in the same line.
    public struct Delay: Sendable {
        enum Kind: Sendable {
            case fixed(Duration)
            case observed(quantile: Double, atLeast: Duration, fallback: Duration?)
        }

        let kind: Kind

        /// The shortest that it can be.
        var shortest: Duration {
            switch kind {
            case .fixed(let delay): delay
            case .observed(_, let shortest, let fallback): fallback.map { min($0, shortest) } ?? shortest
            }
        }

        /// Always the same.
        ///
        /// - Parameter delay: Take what nineteen of twenty requests do not exceed; less is twice the load for nothing.
        public static func fixed(_ delay: Duration) -> Delay {
            Delay(kind: .fixed(delay))
        }

        /// The delay that most of the latest attempts to the origin have not exceeded.
        ///
        /// - Parameters:
        ///   - quantile: The share that counts as quick. Default: 0.95, so that one request in twenty is sent twice.
        ///   - shortest: The shortest delay. Default: 10 ms: less is no time that a person notices, and among answers
        ///     that quick one in twenty is slow by chance.
        ///   - fallback: The delay while too few attempts have been made to know. Default: nil, none is sent twice.
        public static func observed(
            quantile: Double = 0.95,
            atLeast shortest: Duration = .milliseconds(10),
            fallback: Duration? = nil
        ) -> Delay {
            Delay(kind: .observed(quantile: quantile, atLeast: shortest, fallback: fallback))
        }
    }

    let delay: Delay
    let latencies: OriginLatencies
    let budget: RetryBudgetScope
    let gate: (any RetryGate)?

    /// Creates the rules of hedging; made anew for every call or kept, they are the same.
    ///
    /// - Parameters:
    ///   - delay: How long after the first send the second one begins.
    ///   - latencies: The times that attempts usually take. Successes are noted in it, each once, also when
    ///     `BackoffRetrier` has the same. Default: the process's own; name one of the service's own where one origin
    ///     answers requests of very different kinds, and in tests.
    ///   - budget: The budget that pays for second sends; successes are deposited in it, each once, also when
    ///     `BackoffRetrier` has the same. Default: ``RetryBudgetScope/perOrigin``, the one that pays for retries: both
    ///     are load that no user has asked for.
    ///   - gate: The gate that knows of pauses that the origin has ordered; give it the retrier's. Default: nil, none:
    ///     `Pacing` is heeded without.
    public init(
        after delay: Delay,
        latencies: OriginLatencies = .shared,
        budget: RetryBudgetScope = .perOrigin,
        gate: (any RetryGate)? = nil
    ) {
        self.delay = delay
        self.latencies = latencies
        self.budget = budget
        self.gate = gate
    }
}

extension Hedging {
    /// The plan before the first send.
    enum Plan: Sendable {
        /// A second one begins after this delay, if nothing is in its way then.
        case hedge(after: Duration)
        /// There is none, also when the attempt takes longer than `delay`.
        case none(HedgeObstacle, delay: Duration)
    }

    /// Whether `request` may be sent twice, and when.
    ///
    /// - Parameters:
    ///   - request: As it will be sent.
    ///   - isAllowed: Whether the user's request allows it.
    ///   - timeout: The attempt's; nil for none.
    func plan(for request: HttpRequest, isAllowed: Bool, within timeout: Duration?) -> Plan {
        // A delay of zero: reported of every attempt, slow or not, since too few samples are worth knowing of.
        guard let delay = request.origin.flatMap(delay) else { return .none(.tooFewSamples, delay: .zero) }
        guard isAllowed else { return .none(.notAllowed, delay: delay) }
        // It might be executed twice.
        guard request.isIdempotent else { return .none(.notIdempotent, delay: delay) }
        // A stream that can be made again would be made, and read, twice at once.
        guard !request.body.isStream else { return .none(.streamedBody, delay: delay) }
        if let timeout, timeout <= delay { return .none(.timeoutFirst(timeout), delay: delay) }
        return .hedge(after: delay)
    }

    /// Why a second send to `origin` is better not made now; nil when it may be.
    ///
    /// - Parameter timeLeft: The time until the attempt's timeout or the call's deadline; nil for neither.
    func obstacle(to origin: HttpOrigin, timeLeft: Duration?) -> HedgeObstacle? {
        // The server has asked for fewer requests.
        if let pause = gate?.remainingPause(of: origin), pause > .zero { return .pause(pause) }
        // The server would work on it for nothing.
        if let timeLeft, let usual = latencies.median(of: origin), timeLeft < usual {
            return .cannotFinish(remaining: timeLeft, usual: usual)
        }
        return nil
    }

    /// The permit for a second send to `origin`, which costs as much as a retry after an ordinary failure.
    ///
    /// - Returns: Nil when the budget refuses it; a permit of nil when it is free.
    func payment(to origin: HttpOrigin) -> RetryPermit?? {
        guard let budget = budget.budget(of: origin) else { return .some(nil) }
        return budget.withdraw(.hedge).map { .some($0) }
    }

    private func delay(to origin: HttpOrigin) -> Duration? {
        switch delay.kind {
        case .fixed(let delay): max(.zero, delay)
        case .observed(let quantile, let shortest, let fallback):
            latencies.quantile(quantile, of: origin).map { max($0, shortest, .zero) } ?? fallback.map { max(.zero, $0) }
        }
    }
}
