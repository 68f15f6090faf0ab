/// How far a failed request may have got: not sent, rejected, or maybe executed.
public enum Delivery: String, Hashable, Sendable, Comparable {
    /// Nothing of the request reached the server: no connection, no name, connection refused, not built.
    case notSent
    /// The server says that it did nothing: 307, 308, 401, 407, 421, 425 or 429; 503 or 529 only with `Retry-After`.
    case rejected
    /// The server may have acted on the request: any other answer, a connection lost after sending, a timeout.
    case maybeExecuted

    /// Orders by how much may have happened, so that a call that was once `maybeExecuted` stays so.
    public static func < (left: Delivery, right: Delivery) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .notSent: 0
        case .rejected: 1
        case .maybeExecuted: 2
        }
    }

    /// Creates the delivery that an answer with this status proves.
    ///
    /// 307 and 308 have the same request sent elsewhere, so nothing has come of it here (RFC 9110 §15.4.8); 401 and 407
    /// are decided before anything runs (RFC 9110 §11.6); 425 refuses to process the request; 421 says that another
    /// server is meant; 429, that the request was not let in. A 503, and the 529 that some services answer when they
    /// are overloaded, prove this only when they name a time to come back: a gateway's 503 may follow an execution. A
    /// 408 should mean that the request never arrived whole, but some services also send it when the processing took
    /// too long.
    ///
    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - hasRetryAfter: Whether the answer names a time to come back, in `Retry-After` (RFC 9110 §10.2.3) or another
    ///     field that ``HttpHeader/retryAfter(now:)`` reads.
    public init(status: Int, hasRetryAfter: Bool) {
        switch status {
        case 307, 308, 401, 407, 421, 425, 429: self = .rejected
        case _ where hasRetryAfter && Self.overloads.contains(status): self = .rejected
        default: self = .maybeExecuted
        }
    }

    /// The statuses of an overload, whose delivery depends on whether they name a time to come back.
    package static let overloads = [503, 529]
}
