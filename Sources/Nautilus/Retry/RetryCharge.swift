/// The kind of failure that a retry follows, by which a budget decides its cost.
public enum RetryCharge: Hashable, Sendable {
    /// A 429 that says when to come back: the server is well, and has refused the request by a rule of its own.
    case postponed
    /// Any other answer by which the server has refused the request unprocessed, and said when to come back: 503 with
    /// `Retry-After`. It may be the limit of a fleet, or the end of its strength.
    case unavailable
    /// A 429 that does not say when to come back.
    case throttling
    /// Any other failure.
    case failure

    /// Whether the server has refused the request unprocessed, and said when to come back.
    var isInvited: Bool { self == .postponed || self == .unavailable }

    /// Creates the charge of a retry after `error`; nil when it is free.
    ///
    /// A request that found no network, or that was held back here, has reached no server, so that the retry is the first
    /// that can be a load on it. And the end of a stream's connection that had served is no failure.
    init?(after error: HttpError) {
        guard !error.isRefusal, !error.hadServed else { return nil }
        let isInvited = error.delivery == .rejected && error.retryAfter != nil
        switch error.kind {
        case .transport(.notConnectedToInternet), .transport(.dataNotAllowed), .transport(.internationalRoamingOff),
            .transport(.callIsActive):
            return nil
        case .status(429): self = isInvited ? .postponed : .throttling
        default: self = isInvited ? .unavailable : .failure
        }
    }
}
