import Nautilus

/// The limits that a server has reported for one partition.
struct PaceLimits: Sendable {
    /// The most limits that are kept, more than any server has. Beyond it the oldest is dropped, so that an endless
    /// stream of new names does not fill the memory.
    static let maxCount = 32

    private var limits: [PaceLimit] = []

    /// How many limits the server has reported.
    var count: Int { limits.count }

    /// When everything that is known will be outdated; nil when nothing is known.
    var lastEnd: Duration? { limits.map(\.end).max() }

    /// Until when nothing may go, because a limit is used up, or would be if all requests under way counted; nil when a
    /// request may go.
    func blockedUntil(underWay: Int, at now: Duration) -> Duration? {
        limits.reduce(nil) { block, limit in
            guard limit.end > now, limit.isUsedUp(underWay: underWay) else { return block }
            return max(block ?? limit.end, limit.end)
        }
    }

    /// Begins the windows that are due. A limit whose quota and length are known starts anew; any other is forgotten.
    mutating func reset(at now: Duration, lastNumber: Int) {
        guard limits.contains(where: { $0.end <= now }) else { return }
        limits = limits.compactMap { $0.end <= now ? $0.next(at: now, lastNumber: lastNumber) : $0 }
    }

    /// Takes in what the answer to the request with this number reports, and counts it for the limits that it does not
    /// mention.
    ///
    /// - Parameter lastNumber: The number of the last request that was sent.
    mutating func report(_ reports: [RateLimit], by number: Int, lastNumber: Int, at now: Duration) {
        for index in limits.indices where !reports.contains(where: { limits[index].isOf($0) }) {
            limits[index].countRequest()
        }
        for report in reports {
            // The server has moved to another partition than for earlier requests: the old limits belong to that
            // earlier one.
            limits.removeAll {
                $0.policy == report.policy && $0.partition != report.partition && $0.lastReported < number
            }
            guard let fresh = PaceLimit(report, lastNumber: lastNumber, at: now) else { continue }
            if let index = limits.firstIndex(where: { $0.isOf(report) }) {
                limits[index].update(with: fresh, by: number)
            } else {
                limits.append(fresh)
            }
        }
        if count > Self.maxCount { limits.removeFirst(count - Self.maxCount) }
    }

    /// Counts, for all limits, a request that may have counted, but has ended without an answer that says so.
    mutating func countRequest() {
        for index in limits.indices { limits[index].countRequest() }
    }
}

/// One limit as the server last reported it, adjusted for the requests sent since.
///
/// A report says how many more requests the server would accept when it answered a request. The server may or may not
/// have counted the requests that were under way at that time, so they are subtracted, and no more are ever sent than
/// it accepts. Once they have all ended with a report, the figure is exact.
struct PaceLimit: Sendable {
    let policy: String
    let partition: String?
    let quota: Int?
    let window: Duration?
    /// When the limit is reset.
    private(set) var end: Duration
    /// How many more requests the server accepts, as last reported.
    private var remaining: Int
    /// How many requests have ended without mentioning the limit, and may not be included in the report.
    private var unreported = 0
    /// How many of those have ended since the report came.
    private var recentlyUnreported = 0
    /// The last request that was sent when the report came. Reports to later requests are certainly newer; those to
    /// other requests may be older, in whatever order they come.
    private(set) var lastReported: Int

    /// Creates the limit that the server has just reported; nil when the report gives neither its reset nor the length
    /// of its window, since it would then hold requests for ever.
    ///
    /// - Parameter lastNumber: The number of the last request that was sent.
    init?(_ report: RateLimit, lastNumber: Int, at now: Duration) {
        guard let reset = report.reset ?? report.window else { return nil }
        policy = report.policy
        partition = report.partition
        quota = report.quota.flatMap { $0 > 0 ? $0 : nil }
        window = report.window.flatMap { $0 > .zero ? $0 : nil }
        end = now + reset.clampedToCentury
        remaining = report.remaining
        lastReported = lastNumber
    }

    /// Whether no more requests may go before the reset, with this many under way.
    func isUsedUp(underWay: Int) -> Bool { remaining - unreported - underWay <= 0 }

    func isOf(_ report: RateLimit) -> Bool { policy == report.policy && partition == report.partition }

    /// Counts a request that may have counted, but has ended without mentioning the limit.
    mutating func countRequest() {
        unreported += 1
        recentlyUnreported += 1
    }

    /// Takes in what the answer to the request with this number reports about the same limit.
    mutating func update(with report: PaceLimit, by number: Int) {
        if number > lastReported {
            // This request was sent after the last report, so the server had counted all that had ended by then.
            let unreported = recentlyUnreported
            self = report
            self.unreported = unreported
        } else if report.remaining < remaining {
            // A lower figure was counted later, whatever the order in which the requests were sent.
            (remaining, end, lastReported, recentlyUnreported) = (report.remaining, report.end, report.lastReported, 0)
        }
    }

    /// The limit's next window; nil when its quota or length is not known.
    func next(at now: Duration, lastNumber: Int) -> PaceLimit? {
        guard let quota, let window else { return nil }
        let (length, late) = (window.wholeNanoseconds, (now - end).wholeNanoseconds)
        var next = self
        (next.remaining, next.unreported, next.recentlyUnreported, next.lastReported) = (
            quota, recentlyUnreported, 0, lastNumber
        )
        // Windows without any request may have passed meanwhile.
        next.end += .nanoseconds(late / length * length + length)
        return next
    }
}
