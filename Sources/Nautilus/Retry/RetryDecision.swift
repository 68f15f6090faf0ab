/// What a retrier decides. `true` stands for a retry at once, `false` for none.
public enum RetryDecision: Sendable, ExpressibleByBooleanLiteral {
    /// Try again after the delay; a delay that reaches the call's deadline is not slept, the error surfaces.
    case retry(after: Duration)
    /// Leave it to the next retrier; when none retries, the error surfaces.
    case doNotRetry
    /// Another error surfaces in place of the failure.
    case fail(with: HttpError)

    /// `true`: retry at once. `false`: do not retry.
    public init(booleanLiteral value: Bool) {
        self = value ? .retry(after: .zero) : .doNotRetry
    }
}
