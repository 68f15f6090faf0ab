/// An error of a refresh that says what it means for the next one.
///
/// Conform an error of your own to it when not everything that goes wrong passes with time. Any other error counts as
/// transient: calls wait for the next refresh as long as ``RefreshLimits`` and their deadline allow.
///
/// ``TerminalRefreshFailure`` alone ends the session. An error that is not transient keeps it, like one that is; calls
/// merely fail at once, for waiting would not help them: a client that is not registered, a reply that does not decode.
public protocol RefreshFailure: Error {
    /// Whether the same refresh may succeed later by itself.
    var isTransient: Bool { get }
    /// How long the token endpoint asks to wait; nil when it does not say. The cool-down is at least as long, up to
    /// ``RefreshLimits/retryAfterCap``.
    var retryAfter: Duration? { get }
}

extension HttpError: RefreshFailure {
    /// Whether the same call may succeed later by itself: after a failure that ``RetryCondition/standard`` retries, a
    /// deadline that has passed, a refusal of this side, and an authorization that failed for such a reason.
    public var isTransient: Bool {
        switch kind {
        case .deadline, .refused: true
        case .authorization: (underlying as? any RefreshFailure)?.isTransient ?? false
        default: RetryCondition.standard.verdict(for: self).isRetryable
        }
    }
}

extension RefreshError: RefreshFailure {
    /// Whether a later refresh may succeed by itself: one that was made for another coordinator's credential fails so.
    public var isTransient: Bool {
        switch self {
        case .failed(_, let underlying), .coolingDown(_, let underlying):
            (underlying as? any RefreshFailure)?.isTransient ?? true
        case .timedOut, .tooManyRefreshes: true
        case .signedOut, .sessionExpired, .superseded, .recursive, .foreignOrigin, .insecureOrigin: false
        }
    }
}
