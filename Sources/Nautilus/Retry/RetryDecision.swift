/// The decision of a retrier. `true` stands for a retry at once, `false` for none.
public enum RetryDecision: Sendable, ExpressibleByBooleanLiteral {
    /// Try again after the delay; a delay that reaches the call's deadline is not slept, the error surfaces.
    ///
    /// - Parameters:
    ///   - after: How long to wait first.
    ///   - paying: The permit that pays for the retry; the call uses it when the retry is sent, and drops it unused
    ///     when it never is. Default: nil, the retry is free.
    case retry(after: Duration, paying: RetryPermit? = nil)
    /// Leave it to the next retrier; when none retries, the error surfaces.
    case doNotRetry
    /// Another error surfaces in place of the failure.
    case fail(with: HttpError)

    /// `true`: retry at once. `false`: do not retry.
    public init(booleanLiteral value: Bool) {
        self = value ? .retry(after: .zero) : .doNotRetry
    }
}
