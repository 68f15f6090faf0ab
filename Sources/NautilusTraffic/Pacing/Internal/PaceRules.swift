import Nautilus

/// The rules by which ``Pacing`` makes requests wait.
struct PaceRules: Hashable, Sendable {
    /// How many requests may wait for one partition.
    let maxWaiting: Int
    /// The longest wait.
    let maxWait: Duration
    /// The mean time between two releases.
    let interval: Duration
    /// How many requests may go in a time, even if the server accepts more; nil for as many as it accepts.
    let rate: RequestRate?

    /// Creates rules; values that make no sense are clamped to the nearest sensible one. Releases are no slower than
    /// the rate.
    ///
    /// - Parameter maxWaiting: Nil for 100, or for as many as may go within the longest wait if those are more.
    init(maxWaiting: Int?, maxWait: Duration, interval: Duration, rate: RequestRate? = nil) {
        let maxWait = maxWait.clampedToCentury
        self.maxWait = maxWait
        let count = rate.map { min(1_000_000, maxWait / $0.period * Double($0.count)) } ?? 0
        self.maxWaiting = maxWaiting.map { max(0, $0) } ?? max(100, Int(count))
        self.rate = rate
        let interval = min(interval.clampedToCentury, .seconds(3_600))
        self.interval = rate.map { min(interval, $0.period / $0.count) } ?? interval
    }

    /// How long a request may wait that was not refused when it came: a little longer than the longest wait, since
    /// releases are spread, and a busy machine is late.
    var longestWait: Duration { maxWait + max(.seconds(1), maxWait / 10) }

    /// Why a request does not wait this long; nil when it does.
    ///
    /// - Parameter remaining: The time that was left until the call's deadline when the request came; nil when there is
    ///   no deadline.
    func refusal(of wait: Duration, remaining: Duration?) -> FailureKind.Refusal? {
        if let remaining, wait >= remaining { return .waitPastDeadline(wait, remaining: remaining) }
        return wait > maxWait ? .waitTooLong(wait, limit: maxWait) : nil
    }
}
