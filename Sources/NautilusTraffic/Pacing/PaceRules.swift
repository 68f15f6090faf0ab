import Nautilus

/// How ``Pacing`` has requests wait.
struct PaceRules: Hashable, Sendable {
    /// How many may wait for one partition.
    let maxWaiting: Int
    /// For how long, at most.
    let maxWait: Duration
    /// The mean time between two that are released.
    let interval: Duration

    /// Creates rules; values that make no sense are cut to the nearest that do.
    init(maxWaiting: Int, maxWait: Duration, interval: Duration) {
        self.maxWaiting = max(0, maxWaiting)
        self.maxWait = maxWait.addable
        self.interval = min(interval.addable, .seconds(3_600))
    }

    /// Why a request does not wait for so long; nil when it does.
    ///
    /// - Parameter remaining: The time that was left until the call's deadline when it came; nil when there is none.
    func refusal(of wait: Duration, remaining: Duration?) -> TrafficRefusal? {
        if let remaining, wait >= remaining { return .waitPastDeadline(wait, remaining: remaining) }
        return wait > maxWait ? .waitTooLong(wait, limit: maxWait) : nil
    }
}
