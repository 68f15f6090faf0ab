import Nautilus

/// A number of requests per period, as a server's documentation gives it.
///
/// ```swift
/// let pacing = Pacing(rate: .requests(5, per: .seconds(1)))
/// ```
public struct RequestRate: Hashable, Sendable {
    /// Larger counts are reduced in proportion: 100 000 an hour become 10 000 in each six minutes. Each takes 16 bytes.
    private static let largestCount = 10_000

    /// The number of requests.
    public let count: Int
    /// The length of the time.
    public let period: Duration

    /// Creates a rate of at most so many requests within any stretch of time as long as the period.
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 counts as 1.
    ///   - period: The length of the time; less than a nanosecond counts as a nanosecond, and limits nothing.
    public static func requests(_ count: Int, per period: Duration) -> RequestRate {
        let period = max(.nanoseconds(1), period.clampedToCentury)
        guard count > largestCount else { return RequestRate(count: max(1, count), period: period) }
        return RequestRate(count: largestCount, period: period * (Double(largestCount) / Double(count)))
    }
}

/// The times of the last requests: as many as may go within a rate's period.
///
/// A request has the time at which it was let go, and from when it goes out the time of that. The rate is then kept for
/// every stretch of time as long as the period, and so for a server that counts in windows of its own as well: of more
/// requests than allowed, the one that was let go last would have found all others with a time less than the period
/// ago. That takes no more than that none goes out as late as a period after it was let go.
struct RecentStarts: Sendable {
    private let rate: RequestRate
    /// The times, in order; a ring once it is full.
    private var times: [Duration] = []
    private var oldest = 0

    init(_ rate: RequestRate) {
        self.rate = rate
    }

    /// When none of the times counts any more; nil when there are none.
    var lastEnd: Duration? { times.max().map { $0 + rate.period } }

    /// The place of the latest of the times, but for so many; nil beyond the oldest.
    private func place(ofLatest skipped: Int) -> Int? {
        skipped < times.count ? (oldest + times.count - 1 - skipped) % times.count : nil
    }

    /// Notes that a request goes.
    ///
    /// - Returns: Its time: not before that of another, though the clock was read before the lock was taken.
    @discardableResult
    mutating func note(_ now: Duration) -> Duration {
        let now = place(ofLatest: 0).map { max(times[$0], now) } ?? now
        if times.count < rate.count {
            times.append(now)
        } else {
            times[oldest] = now
            oldest = (oldest + 1) % rate.count
        }
        return now
    }

    /// Notes that a request goes now that was let go at `start`; in a time that is as short as the number of requests
    /// that were let go since.
    ///
    /// - Returns: Its time from here on.
    mutating func move(_ start: Duration, to now: Duration) -> Duration {
        var newer = 0
        while let place = place(ofLatest: newer), times[place] > start { newer += 1 }
        // If it no longer counts, it counts again.
        guard let own = place(ofLatest: newer), times[own] == start else { return note(now) }
        var (last, latest) = (own, start)
        while newer > 0 {
            newer -= 1
            guard let place = place(ofLatest: newer) else { break }
            (times[last], latest) = (times[place], times[place])
            last = place
        }
        times[last] = max(latest, now)
        return times[last]
    }

    /// Takes back the note of a request that has not gone.
    mutating func remove(_ start: Duration) {
        var ordered = Array(times[oldest...] + times[..<oldest])
        guard let index = ordered.lastIndex(of: start) else { return }
        ordered.remove(at: index)
        (times, oldest) = (ordered, 0)
    }

    /// When the next request may go, or one with so many ahead of it that all go as soon as they may.
    func slot(ahead: Int, at now: Duration) -> Duration {
        let free = rate.count - times.count
        let (rounds, place) = ahead.quotientAndRemainder(dividingBy: rate.count)
        let first = place < free ? now : max(now, times[(oldest + place - free) % times.count] + rate.period)
        return first + rate.period * rounds
    }
}
