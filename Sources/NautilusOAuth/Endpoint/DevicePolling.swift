import Nautilus

/// How long to wait before the next poll for a device's credential (RFC 8628 §3.5): a value without a clock.
struct DevicePolling: Sendable {
    /// The time between two polls, as it is now.
    private(set) var interval: Duration

    /// How long to wait after a poll that has failed.
    ///
    /// - Throws: `error` itself, when no further poll can mend it.
    mutating func pause(after error: OAuthError) throws(OAuthError) -> Duration {
        switch error.kind {
        case .misconfigured(code: "authorization_pending"):
            break
        case .misconfigured(code: "slow_down"):
            // For this poll and all that follow.
            interval = (interval + .seconds(5)).addable
        case .answerLost:
            // A silent server has to be asked less often; what the RFC recommends is to double the interval each time.
            interval = (interval * 2).addable
        case .unavailable:
            // It has answered, or nothing has reached it: the interval is patience enough.
            break
        default:
            throw error
        }
        return max(interval, error.httpError?.retryAfter ?? .zero)
    }
}
