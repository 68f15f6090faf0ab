import Nautilus

/// The limits that a server has reported for one partition.
struct PaceLimits: Sendable {
    /// More than any server has; the oldest goes, so that ever new names fill no memory.
    static let maxCount = 32

    private var limits: [PaceLimit] = []

    /// How many the server has reported.
    var count: Int { limits.count }

    /// When time will have overtaken all that is known; nil when nothing is.
    var lastEnd: Duration? { limits.map(\.end).max() }

    /// How long nothing may go since a limit is used up, or would be if all under way counted; nil when one may.
    func blockedUntil(underWay: Int, at now: Duration) -> Duration? {
        limits.reduce(nil) { block, limit in
            guard limit.end > now, limit.isUsedUp(underWay: underWay) else { return block }
            return max(block ?? limit.end, limit.end)
        }
    }

    /// Begins the windows that are due: where quota and length are known, anew; elsewhere the limit is forgotten.
    mutating func reset(at now: Duration, lastNumber: Int) {
        guard limits.contains(where: { $0.end <= now }) else { return }
        limits = limits.compactMap { $0.end <= now ? $0.next(at: now, lastNumber: lastNumber) : $0 }
    }

    /// Takes in what the answer to the request with this number says, and charges the limits that it says nothing of.
    ///
    /// - Parameter lastNumber: The number of the last request that has gone.
    mutating func report(_ reports: [RateLimit], by number: Int, lastNumber: Int, at now: Duration) {
        for index in limits.indices where !reports.contains(where: { limits[index].isOf($0) }) {
            limits[index].charge()
        }
        for report in reports {
            // The server has put the request into another partition than those before: the old limits are another's.
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

    /// A request has ended that may have counted, without an answer that says so.
    mutating func charge() {
        for index in limits.indices { limits[index].charge() }
    }
}

/// One limit as the server last reported it, and the requests sent since.
///
/// A report says how many more requests the server took when it answered one. Requests that were under way at that time
/// may or may not be among those it had counted, so they are taken off: never one too many is sent. Once all have ended
/// with a report, the figure is exact.
struct PaceLimit: Sendable {
    let policy: String
    let partition: String?
    let quota: Int?
    let window: Duration?
    /// When the limit is reset.
    private(set) var end: Duration
    /// How many more the server takes, as last reported.
    private var remaining: Int
    /// How many have ended without a word of the limit, and may not be in the report.
    private var unreported = 0
    /// How many of those have ended since the report came.
    private var recentlyUnreported = 0
    /// The last request that had gone when the report came. Reports to later ones are newer for certain; those to the
    /// others may be older, in whatever order they come.
    private(set) var lastReported: Int

    /// Creates the limit that the server has just reported; nil when the report gives neither its reset nor the length
    /// of its window, and would hold requests for ever.
    ///
    /// - Parameter lastNumber: The number of the last request that has gone.
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

    /// Whether no more may go before the reset, if so many are under way.
    func isUsedUp(underWay: Int) -> Bool { remaining - unreported - underWay <= 0 }

    func isOf(_ report: RateLimit) -> Bool { policy == report.policy && partition == report.partition }

    /// A request has ended that may have counted, without a word of the limit.
    mutating func charge() {
        unreported += 1
        recentlyUnreported += 1
    }

    /// Takes in what the answer to the request with this number says of the same limit.
    mutating func update(with report: PaceLimit, by number: Int) {
        if number > lastReported {
            // It was sent after the last report, and what had ended by then was counted before it.
            let unreported = recentlyUnreported
            self = report
            self.unreported = unreported
        } else if report.remaining < remaining {
            // Whatever the order in which they were sent: this one was counted later.
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
        // Windows without a request have passed.
        next.end += .nanoseconds(late / length * length + length)
        return next
    }
}

/// How ``Pacing`` has requests wait.
struct PaceRules: Hashable, Sendable {
    /// How many may wait for one partition.
    let maxWaiting: Int
    /// For how long, at most.
    let maxWait: Duration
    /// The mean time between two that are released.
    let interval: Duration
    /// How many may go in a time, however few the server has answered; nil for as many as it takes.
    let rate: RequestRate?

    /// Creates rules; values that make no sense are cut to the nearest that do. Releases are no slower than the rate.
    ///
    /// - Parameter maxWaiting: Nil for 100, or as many as may go within the longest wait.
    init(maxWaiting: Int?, maxWait: Duration, interval: Duration, rate: RequestRate? = nil) {
        let maxWait = maxWait.clampedToCentury
        self.maxWait = maxWait
        let count = rate.map { min(1_000_000, maxWait / $0.period * Double($0.count)) } ?? 0
        self.maxWaiting = maxWaiting.map { max(0, $0) } ?? max(100, Int(count))
        self.rate = rate
        let interval = min(interval.clampedToCentury, .seconds(3_600))
        self.interval = rate.map { min(interval, $0.period / $0.count) } ?? interval
    }

    /// Why a request does not wait for so long; nil when it does.
    ///
    /// - Parameter remaining: The time that was left until the call's deadline when it came; nil when there is none.
    func refusal(of wait: Duration, remaining: Duration?) -> TrafficRefusal? {
        if let remaining, wait >= remaining { return .waitPastDeadline(wait, remaining: remaining) }
        return wait > maxWait ? .waitTooLong(wait, limit: maxWait) : nil
    }
}
