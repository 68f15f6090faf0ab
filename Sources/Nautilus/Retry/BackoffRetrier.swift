/// Retries what passes with time: after growing, randomised delays, and never what may have been executed twice.
///
/// ```swift
/// var retrierFactory: any RetrierFactory { BackoffRetrier.factory(maxAttempts: 5) }
/// ```
/// Its state is the call's own: how often it has retried, and its last delay. What calls share is the gate.
public struct BackoffRetrier: Retrier {
    private let policy: Policy
    private var retries = 0
    private var lastDelay = Duration.zero
    /// Why the last decision was taken; nil before the first.
    public private(set) var reason: RetryReason?

    /// Makes one retrier per call.
    ///
    /// - Parameters:
    ///   - backoff: The delays. Default: exponential from 0.5 s, doubling, up to 20 s, full jitter; the reasons are at
    ///     ``Backoff/exponential(base:factor:cap:jitter:)``.
    ///   - maxAttempts: The most attempts, the first included; retries of other retriers do not count. Less than 1
    ///     counts as 1. Default: 4, three retries: the fourth attempt still comes within a person's patience (3.5 s of
    ///     delays at most, unless the server asks for more), and an outage costs four sends in place of one at worst.
    ///   - condition: Which failures are retried. Default: ``RetryCondition/standard``, what passes with time for most
    ///     APIs, each line with its reason.
    ///   - retryAfterCap: The longest `Retry-After` that is waited for; beyond it the error surfaces at once, with the
    ///     hint. Default: 60 s: a caller would rather hear of it than wait longer.
    ///   - gate: What holds back retries while a credential is refreshed, or while the origin has ordered a pause, to
    ///     whichever call. Default: nil, none, since one that is shared has to be kept by the service.
    ///   - random: Where jitter comes from. Default: the system's generator, which no two clients share.
    ///   - retriesNonIdempotentRequests: Whether to repeat a POST that the server may have executed, and execute it
    ///     twice. Default: false, since nobody can undo a second order; send an `Idempotency-Key` instead.
    public static func factory(
        backoff: Backoff = .exponential(),
        maxAttempts: Int = 4,
        condition: RetryCondition = .standard,
        retryAfterCap: Duration = .seconds(60),
        gate: (any RetryGate)? = nil,
        random: any RandomSource = SystemRandomSource(),
        retriesNonIdempotentRequests: Bool = false
    ) -> AnyRetrierFactory {
        let policy = Policy(
            backoff: backoff,
            maxAttempts: maxAttempts,
            condition: condition,
            retryAfterCap: retryAfterCap,
            gate: gate,
            random: random,
            retriesNonIdempotentRequests: retriesNonIdempotentRequests
        )
        return AnyRetrierFactory { BackoffRetrier(policy: policy) }
    }

    private init(policy: Policy) {
        self.policy = policy
    }

    /// Waits until the gate lets retries pass; first attempts are not held back.
    ///
    /// - Throws: `CancellationError`.
    public mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        guard context.number > 1, let gate = policy.gate, let origin = httpRequest.origin else { return }
        try await gate.pass(to: origin)
    }

    /// Retries after the longest of the schedule's delay, `Retry-After` and the origin's pause, or says why not.
    public mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        if let refusal = refusal(of: error) {
            reason = refusal
            return .doNotRetry
        }
        retries += 1
        lastDelay = policy.backoff.delay(beforeRetry: retries, previous: lastDelay, random: policy.random)
        var (delay, reason) = (lastDelay, RetryReason.backoff(retry: retries))
        if let hint = error.retryAfter, hint > delay { (delay, reason) = (hint, error.reason(for: hint)) }
        if let pause = policy.remainingPause(for: error), pause > delay { (delay, reason) = (pause, .gate(pause)) }
        self.reason = reason
        return .retry(after: delay)
    }

    /// Why `error` is not retried; nil when it is.
    private func refusal(of error: HttpError) -> RetryReason? {
        let verdict = policy.condition.verdict(for: error)
        // Another attempt would fail the same way.
        guard verdict.isRetryable else { return .notRetryable(verdict.reason) }

        if let hint = error.retryAfter {
            // What one call hears holds for all: also when this call does not wait for it, or has no attempt left.
            policy.closeGate(for: min(hint, policy.retryAfterCap), after: error)
            // The caller would rather hear of it than wait so long.
            guard hint <= policy.retryAfterCap else { return error.refusal(of: hint, over: policy.retryAfterCap) }
        }

        // It might be executed twice.
        guard policy.mayRepeat(error) else { return .mayHaveExecuted }

        // More attempts would be load without hope.
        guard retries + 1 < policy.maxAttempts else { return .attemptsUsed(policy.maxAttempts) }
        return nil
    }
}

extension BackoffRetrier {
    /// What all retriers of one factory share.
    private struct Policy: Sendable {
        let backoff: Backoff
        let maxAttempts: Int
        let condition: RetryCondition
        let retryAfterCap: Duration
        let gate: (any RetryGate)?
        let random: any RandomSource
        let retriesNonIdempotentRequests: Bool

        func mayRepeat(_ error: HttpError) -> Bool {
            error.delivery != .maybeExecuted || error.request?.isIdempotent == true || retriesNonIdempotentRequests
        }

        func remainingPause(for error: HttpError) -> Duration? {
            error.request.flatMap { gate?.remainingPause(of: $0.origin) }
        }

        func closeGate(for pause: Duration, after error: HttpError) {
            guard pause > .zero, let origin = error.request?.origin else { return }
            // An open circuit is no order of the server, and knows itself when to let a request through.
            guard !error.isRefusal else { return }
            // A redirect has led elsewhere, and it is the other origin that asks for patience.
            if let url = error.response?.url, HttpOrigin(url) != origin { return }
            gate?.close(origin, for: pause)
        }
    }
}

extension HttpError {
    /// Why a delay is as long as `hint`.
    fileprivate func reason(for hint: Duration) -> RetryReason {
        isRefusal ? .circuitOpen(hint) : .retryAfter(hint)
    }

    /// Why a delay of `hint` is not waited for.
    fileprivate func refusal(of hint: Duration, over cap: Duration) -> RetryReason {
        isRefusal ? .notRetryable("\(kind), over the cap of \(cap.brief)") : .retryAfterOverCap(hint, cap: cap)
    }
}
