/// How many requests a ``FleetServer`` lets in; beyond them it answers 429 with `Retry-After`, without any work.
///
/// One limit for the whole fleet, as a gateway has it that counts by API and not by caller. A burst may come at once;
/// after it, requests pass at the rate (the "generic cell rate algorithm", as nginx's `limit_req … nodelay`).
public struct FleetRateLimit: Hashable, Sendable {
    let interval: Duration
    let tolerance: Duration

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - perSecond: How many pass in a second, in the long run. Less than 0.001 counts as that.
    ///   - burst: How many may come at once after a quiet time. 1…1 000 000. Default: 1, none but those of the rate.
    public init(perSecond: Double, burst: Int = 1) {
        // Whole nanoseconds, so that ten in a second are neither more nor less.
        self.interval = .nanoseconds(Int64((1e9 / max(perSecond, 0.001)).rounded()))
        self.tolerance = interval * (min(max(burst, 1), 1_000_000) - 1)
    }

    /// The state of a limit: when the requests so far would have passed at exactly the rate.
    struct State: Sendable {
        private var paidUntil: Duration?

        /// Lets a request in, or says in how many whole seconds the next one can pass.
        mutating func refusal(at time: Duration, by limit: FleetRateLimit) -> Int? {
            let due = max(paidUntil ?? time, time)
            let wait = due - limit.tolerance - time
            if wait > .zero { return Int((wait / .seconds(1)).rounded(.up)) }
            paidUntil = due + limit.interval
            return nil
        }
    }
}
