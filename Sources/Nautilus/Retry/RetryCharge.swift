/// What a retry follows, by which a budget decides what it costs.
public enum RetryCharge: Hashable, Sendable {
    /// An answer that asks the caller to slow down: 429.
    case throttling
    /// Any other failure.
    case failure

    /// What a retry after `error` is charged as; nil when it is free.
    ///
    /// A request that found no network, or that was held back here, has reached no server, so that the retry is the first
    /// that can be a load on it. And the end of a stream's connection that had served is no failure.
    init?(after error: HttpError) {
        guard !error.isRefusal, !error.hadServed else { return nil }
        switch error.kind {
        case .transport(.notConnectedToInternet), .transport(.dataNotAllowed), .transport(.internationalRoamingOff),
            .transport(.callIsActive):
            return nil
        case .status(429): self = .throttling
        default: self = .failure
        }
    }
}
