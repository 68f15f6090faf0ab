/// What all retriers of one `BackoffRetrier.factory` share.
struct BackoffPolicy: Sendable {
    let backoff: Backoff
    let throttlingBackoff: Backoff
    let maxAttempts: Int
    let condition: RetryCondition
    let retryAfterCap: Duration
    let budget: RetryBudgetScope
    let gate: (any RetryGate)?
    let random: any RandomSource
    let retriesNonIdempotentRequests: Bool

    /// The delays that suit `error`.
    func schedule(after error: HttpError) -> Backoff {
        RetryCharge(after: error) == .throttling ? throttlingBackoff : backoff
    }

    /// Whether the budget pays for a retry after `error`.
    ///
    /// - Parameter charge: Nil for a retry that is free.
    func grants(_ charge: RetryCharge?, after error: HttpError) -> Bool {
        guard let charge, let budget = budget.budget(of: error.request?.origin) else { return true }
        return budget.withdraw(charge)
    }

    func mayRepeat(_ error: HttpError) -> Bool {
        error.delivery != .maybeExecuted || error.request?.isIdempotent == true || retriesNonIdempotentRequests
    }

    func remainingPause(for error: HttpError) -> Duration? {
        error.request.flatMap { gate?.remainingPause(of: $0.origin) }
    }

    func closeGate(for pause: Duration, after error: HttpError) {
        guard pause > .zero, let origin = error.request?.origin else { return }
        // A redirect has led elsewhere, and it is the other origin that asks for patience.
        if let url = error.response?.url, HttpOrigin(url) != origin { return }
        gate?.close(origin, for: pause)
    }
}
