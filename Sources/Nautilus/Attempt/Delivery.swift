/// What the server may have done with a request that failed.
public enum Delivery: String, Hashable, Sendable {
    /// Nothing of it reached the server: no connection, no name, connection refused, not built.
    case notSent
    /// The server says that it did nothing: 429, 503 with `Retry-After`, 401, 407, 408, 421, 425.
    case rejected
    /// The server may have acted on it: any other answer, a connection lost after sending, a timeout.
    case maybeExecuted
}
