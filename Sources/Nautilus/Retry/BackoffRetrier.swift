/// Retries failures that may pass with time, with jittered exponential backoff. By default, it does not repeat a
/// request that the server might then execute twice.
///
/// ```swift
/// var retrierFactory: any RetrierFactory { BackoffRetrier.factory(.standard.with { $0.maxAttempts = 5 }) }
/// ```
/// Its state belongs to one call: the number of retries, and the last delay. Calls share the gate and the budget.
public struct BackoffRetrier: Retrier {
    private let policy: Configuration
    private var retries = 0
    private var lastDelay = Duration.zero
    private var offlineWait = OfflineWait()
    /// The reason for the last decision; nil before the first.
    public private(set) var reason: RetryReason?

    /// Makes one retrier per call.
    ///
    /// - Parameter configuration: The rules that the retriers follow, and the objects that they share. Default:
    ///   ``Configuration/standard``.
    public static func factory(_ configuration: Configuration = .standard) -> any RetrierFactory { configuration }

    init(_ policy: Configuration) {
        self.policy = policy
    }

    /// Not to be called: a service has a factory, which makes a retrier for each call.
    @available(
        *,
        unavailable,
        message:
            "a service takes a factory: BackoffRetrier.factory(), or .factory(.standard.with { $0.maxAttempts = 3 })"
    )
    public init(maxAttempts: Int = 4) {
        self.init(.standard.with { $0.maxAttempts = maxAttempts })
    }

    /// Waits until the gate lets the retry pass.
    ///
    /// - Throws: `CancellationError`.
    public mutating func beforeRetry(of request: HttpRequest) async throws {
        if let gate = policy.gate, let origin = request.origin { try await gate.pass(to: origin) }
    }

    /// Retries after the longest of three times: the backoff's delay, `Retry-After`, and the origin's pause. Without a
    /// gate, a random time of up to as much again, and 10 s at most, is added to `Retry-After`. If it does not retry,
    /// ``reason`` says why. If the device is offline, it first waits for a network.
    ///
    /// If a feed has been open (``HttpError/isReconnect``), there is no limit to its reconnects, or to the
    /// `Retry-After` that it waits for. A reconnect costs nothing, and the backoff's delay before it is at most 30 s.
    public mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        if let refusal = refusal(of: error) { return refuse(because: refusal) }
        let ending = await waitForNetwork(after: error)
        if ending == .cancelled { return refuse(because: .cancelled) }
        if case .online(let absence, let spread)? = ending {
            return retryFreely(after: spread, failure: error, because: .online(after: absence))
        }
        // More attempts of a call would only add load. A feed has no limit on attempts, because the delays limit its
        // load.
        guard error.isReconnect || retries + 1 < policy.maxAttempts else {
            return refuse(because: .attemptsUsed(policy.maxAttempts))
        }

        let step = policy.schedule(after: error)
            .delay(beforeRetry: retries + 1, previous: lastDelay, random: policy.random)
        var (delay, reason) = (step, RetryReason.backoff(retry: retries + 1))
        if case .stillOffline(let absence)? = ending { reason = .stillOffline(after: absence) }
        if let hint = error.retryAfter, case let late = policy.delay(after: hint, beforeRetry: retries + 1, error),
            late > delay
        {
            (delay, reason) = (late, error.reason(for: hint))
        }
        let pause = policy.remainingPause(for: error) ?? .zero
        if pause > delay { reason = .gate(pause) }

        if let reason = policy.reasonTooLate(for: max(delay, pause), after: error) { return refuse(because: reason) }
        (retries, lastDelay, self.reason) = (retries + 1, step, reason)
        return .retry(
            after: max(delay, pause),
            paying: policy.cost(for: error),
            evenIfExecuted: policy.retriesNonIdempotentRequests
        )
    }

    /// The budget of the configuration.
    public func budgets(for origin: HttpOrigin) -> [any RetryBudget] {
        policy.budget.budget(of: origin).map { [$0] } ?? []
    }

    /// The latency record of the configuration.
    public var latencies: [any LatencyRecord] { policy.latencies.map { [$0] } ?? [] }

    private mutating func refuse(because reason: RetryReason) -> RetryDecision {
        self.reason = reason
        return .doNotRetry
    }

    /// Why `error` is not retried; nil when it is.
    private func refusal(of error: HttpError) -> RetryReason? {
        let verdict = policy.condition.verdict(for: error)
        // Another attempt would fail the same way.
        guard verdict.isRetryable else { return .notRetryable(verdict.reason) }

        if let hint = error.retryAfter {
            // A `Retry-After` pauses all calls, even if this call does not wait for it, or has no attempt left.
            policy.closeGate(for: min(hint, policy.retryAfterCap), after: error)
            // Somebody waits for the answer of a call, and should get the error rather than wait that long. Nobody
            // waits for a feed.
            guard error.isReconnect || hint <= policy.retryAfterCap else {
                return error.refusal(of: hint, over: policy.retryAfterCap)
            }
        }

        // The request might be executed twice.
        guard policy.mayRepeat(error, isPartOfRefresh: CredentialWork.isRefresh) else { return .mayHaveExecuted }
        return nil
    }

    /// Waits until the device is online; nil when there is nothing to wait for, or no time left to wait.
    private mutating func waitForNetwork(after error: HttpError) async -> OfflineWait.Ending? {
        // A policy without retries makes none after an offline wait, either.
        guard error.isReconnect || policy.maxAttempts > 1 else { return nil }
        return await offlineWait.pass(policy.offline, after: error, drawing: policy.random)
    }

    /// Retries without counting the attempt and without cost, since the previous attempt found no network.
    private mutating func retryFreely(
        after spread: Duration,
        failure error: HttpError,
        because reason: RetryReason
    ) -> RetryDecision {
        var (delay, reason) = (spread, reason)
        if let pause = policy.remainingPause(for: error), pause > delay { (delay, reason) = (pause, .gate(pause)) }
        if let reason = policy.reasonTooLate(for: delay, after: error) { return refuse(because: reason) }
        self.reason = reason
        return .retry(after: delay, evenIfExecuted: policy.retriesNonIdempotentRequests)
    }
}

extension HttpError {
    /// Why a delay is as long as `hint`.
    fileprivate func reason(for hint: Duration) -> RetryReason {
        isRefusal ? .circuitOpen(hint) : .retryAfter(hint)
    }

    /// Why a retry is not made when it would have to wait for `hint`.
    fileprivate func refusal(of hint: Duration, over cap: Duration) -> RetryReason {
        isRefusal ? .notRetryable("\(kind), over the cap of \(cap.brief)") : .retryAfterOverCap(hint, cap: cap)
    }
}
