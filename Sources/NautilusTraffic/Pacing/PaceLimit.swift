import Nautilus

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
    private var wordless = 0
    /// How many of those have ended since the report came.
    private var recentlyWordless = 0
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
        end = now + reset.addable
        remaining = report.remaining
        lastReported = lastNumber
    }

    /// Whether no more may go before the reset, if so many are under way.
    func isUsedUp(underWay: Int) -> Bool { remaining - wordless - underWay <= 0 }

    func isOf(_ report: RateLimit) -> Bool { policy == report.policy && partition == report.partition }

    /// A request has ended that may have counted, without a word of the limit.
    mutating func charge() {
        wordless += 1
        recentlyWordless += 1
    }

    /// Takes in what the answer to the request with this number says of the same limit.
    mutating func update(with report: PaceLimit, by number: Int) {
        if number > lastReported {
            // It was sent after the last report, and what had ended by then was counted before it.
            let wordless = recentlyWordless
            self = report
            self.wordless = wordless
        } else if report.remaining < remaining {
            // Whatever the order in which they were sent: this one was counted later.
            (remaining, end, lastReported, recentlyWordless) = (report.remaining, report.end, report.lastReported, 0)
        }
    }

    /// The limit's next window; nil when its quota or length is not known.
    func next(at now: Duration, lastNumber: Int) -> PaceLimit? {
        guard let quota, let window else { return nil }
        let (length, late) = (window.wholeNanoseconds, (now - end).wholeNanoseconds)
        var next = self
        (next.remaining, next.wordless, next.recentlyWordless, next.lastReported) = (
            quota, recentlyWordless, 0, lastNumber
        )
        // Windows without a request have passed.
        next.end += .nanoseconds(late / length * length + length)
        return next
    }
}
