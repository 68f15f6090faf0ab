/// A retrier that never retries: the default.
public struct NilRetrier: Retrier {
    /// Creates the retrier.
    public init() {}

    /// Never retries.
    public mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        .doNotRetry
    }

    /// Makes retriers that never retry.
    public static func factory() -> AnyRetrierFactory {
        AnyRetrierFactory { NilRetrier() }
    }
}
