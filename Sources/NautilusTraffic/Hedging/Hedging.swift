import Foundation
import Nautilus

/// Sends a slow request a second time, takes the first good answer, and cancels the other send.
/// ```swift
/// let service = AnyHttpService(apiUrl: "api.example.com/v1", interceptors: [Hedging(after: .observed())])
/// ```
/// - Only requests that may be repeated are sent twice: those with an idempotent method or an `Idempotency-Key`, and
///   without a stream for a body. A request opts out by `Request.allowsHedging`.
/// - Both sends belong to one attempt: they have the same request, credential and key, and one timeout, counted from
///   the first send. The losing send is not waited for; what it may have executed counts for the attempt's delivery.
/// - The retry budget pays for a second send. There is none while the origin has ordered a pause, when less time is
///   left than attempts usually take, or when `Pacing`, `ConcurrencyLimit` or `CircuitBreaker` would hold it back.
///
/// The guides `Traffic` and `HowACallFlows` say what it costs, and which failure surfaces if both sends fail.
public struct Hedging: NetworkInterceptor {
    /// How long an attempt may take before it counts as slow. Waiting for a free connection does not count: a second
    /// send would wait in the same queue.
    public struct Delay: Sendable {
        package enum Kind: Sendable {
            case fixed(Duration)
            case observed(quantile: Double, atLeast: Duration, fallback: Duration?)
        }

        package let kind: Kind

        /// The shortest possible delay.
        var shortest: Duration {
            switch kind {
            case .fixed(let delay): delay
            case .observed(_, let shortest, let fallback): fallback.map { min($0, shortest) } ?? shortest
            }
        }

        /// Always the same delay.
        ///
        /// - Parameter delay: Choose a time that nineteen of twenty requests do not exceed; a shorter one adds load for
        ///   nothing.
        public static func fixed(_ delay: Duration) -> Delay {
            Delay(kind: .fixed(delay))
        }

        /// The delay that a given share of the latest attempts to the origin have not exceeded.
        ///
        /// - Parameters:
        ///   - quantile: The share that counts as quick. Default: 0.95, so that one request in twenty is sent twice.
        ///   - shortest: The shortest delay. Default: 10 ms: no user notices a shorter time, and among answers that
        ///     quick, one in twenty is slow by chance.
        ///   - fallback: The delay while there are too few samples. Default: nil, no request is sent twice.
        public static func observed(
            quantile: Double = 0.95,
            atLeast shortest: Duration = .milliseconds(10),
            fallback: Duration? = nil
        ) -> Delay {
            Delay(kind: .observed(quantile: quantile, atLeast: shortest, fallback: fallback))
        }
    }

    package let delay: Delay
    package let latencies: OriginLatencies
    package let budget: RetryBudgetScope
    package let gate: (any RetryGate)?

    /// Creates the rules of hedging; it makes no difference whether they are created anew for every call or kept.
    ///
    /// - Parameters:
    ///   - delay: How long after the first send the second one begins.
    ///   - latencies: How long attempts usually take. Each success is recorded in it once, even when `BackoffRetrier`
    ///     uses the same record. Default: the process's own; name one of the service's own in tests, and where one
    ///     origin answers requests of very different kinds.
    ///   - budget: The budget that pays for second sends. Each success is deposited in it once, even when
    ///     `BackoffRetrier` uses the same budget. Default: `.perOrigin`, which pays for retries as
    ///     well: both are load that no user has asked for.
    ///   - gate: The gate that knows of the pauses ordered by the origin; pass the retrier's. Default: nil, none:
    ///     `Pacing` holds requests back even without a gate.
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
    /// Outside of everything that holds requests back, so that each send is asked there by itself.
    public var networkStage: InterceptorTier.NetworkStage { .hedging }
    /// These rules.
    public var hedging: HedgingRules? {
        HedgingRules(shortestDelay: delay.shortest, budget: budget, gate: gate, latencies: latencies)
    }

    /// Sends the request, and sends it again when the first send is slow.
    ///
    /// - Throws: The failure of the send that counts.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let call = context.hedgeable else { return try await next(request) }
        guard !context.isPartOfRefresh else {
            call.note(.notSent(.refresh))
            return try await next(request)
        }
        switch plan(for: request, isAllowed: call.allowsHedging, within: context.timeout) {
        case .none(let reason, let delay):
            let start = call.stopwatch.elapsed
            // A quick request would not have been sent twice, so there is nothing to record.
            defer { if call.stopwatch.elapsed - start >= delay { call.note(.notSent(reason)) } }
            return try await next(request)

        case .hedge(let delay):
            let exchange = HedgedExchange(
                request: request,
                context: context,
                next: next,
                call: call,
                hedging: self,
                delay: delay
            )
            let (outcome, hedge) = await exchange.run()
            call.note(hedge, isPossible: true)
            return try outcome.get()
        }
    }
}

extension Hedging {
    /// The plan before the first send.
    enum Plan: Sendable {
        /// A second send begins after this delay, if nothing prevents it then.
        case hedge(after: Duration)
        /// There is no second send, even when the attempt takes longer than `delay`.
        case none(CallTrace.Hedge.Reason, delay: Duration)
    }

    /// Whether `request` may be sent twice, and when.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - isAllowed: Whether the user's request allows hedging.
    ///   - timeout: The attempt's timeout; nil for none.
    func plan(for request: HttpRequest, isAllowed: Bool, within timeout: Duration?) -> Plan {
        // With a delay of zero, this is reported of every attempt, slow or not, since a lack of samples is worth
        // knowing.
        guard let delay = request.origin.flatMap(delay) else { return .none(.tooFewSamples, delay: .zero) }
        guard isAllowed else { return .none(.notAllowed, delay: delay) }
        // The request might be executed twice.
        guard request.isIdempotent else { return .none(.notIdempotent, delay: delay) }
        // Even a stream that can be made again would be made, and read, twice at once.
        guard !request.body.isStream else { return .none(.streamedBody, delay: delay) }
        if let timeout, timeout <= delay { return .none(.timeoutFirst(timeout), delay: delay) }
        return .hedge(after: delay)
    }

    /// Why a second send to `origin` should not be made now; nil when it may be.
    ///
    /// - Parameter timeLeft: The time until the attempt's timeout or the call's deadline; nil for neither.
    func reasonNotToSend(to origin: HttpOrigin, timeLeft: Duration?) -> CallTrace.Hedge.Reason? {
        // The server has asked for fewer requests.
        if let pause = gate?.remainingPause(of: origin), pause > .zero { return .pause(pause) }
        // The server would work on the second send for nothing.
        if let timeLeft, let usual = latencies.median(of: origin), timeLeft < usual {
            return .cannotFinish(remaining: timeLeft, usual: usual)
        }
        return nil
    }

    /// Whether the budget pays for a second send to `origin`, which costs as much as a retry after an ordinary failure.
    func pays(to origin: HttpOrigin) -> Bool {
        budget.budget(of: origin)?.withdraw(.hedge) ?? true
    }

    private func delay(to origin: HttpOrigin) -> Duration? {
        switch delay.kind {
        case .fixed(let delay): max(.zero, delay)
        case .observed(let quantile, let shortest, let fallback):
            latencies.quantile(quantile, of: origin).map { max($0, shortest, .zero) } ?? fallback.map { max(.zero, $0) }
        }
    }
}
