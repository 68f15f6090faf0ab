/// One client's bucket: when it will be empty, and what that means for the next request.
struct LeakyBucket: Hashable, Sendable {
    private let interval: Duration
    private let burst: Int
    /// When the last request that was taken would come by the rate alone, if all had.
    private var lastTurn: Duration?

    init(_ limit: RequestLimit) {
        interval = limit.interval
        burst = limit.burst
    }

    /// A request comes.
    ///
    /// - Returns: How long it is ahead of the rate; nil when the bucket is too full to take it.
    mutating func take(at now: Duration) -> Duration? {
        let turn = lastTurn.map { max(now, $0 + interval) } ?? now
        guard turn - now <= interval * burst else { return nil }
        lastTurn = turn
        return turn - now
    }

    /// How many more requests it would take at once.
    func remaining(at now: Duration) -> Int {
        // In whole nanoseconds, since a quotient in floating point may be a little over a whole number.
        let (excess, interval) = (untilEmpty(at: now).nanoseconds, interval.nanoseconds)
        return max(0, burst + 1 - Int((excess + interval - 1) / interval))
    }

    /// How long it takes until the bucket is empty, if nothing comes; zero when it is.
    func untilEmpty(at now: Duration) -> Duration {
        lastTurn.map { max(.zero, $0 + interval - now) } ?? .zero
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
