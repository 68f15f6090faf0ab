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
/// A request has the time at which it was let go. The rate is kept for every stretch of time as long as the period, and
/// so for a server that counts in windows of its own as well, if each request goes out soon after it was let go.
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

    /// Notes that a request goes.
    ///
    /// - Returns: Its time: not before that of another, though the clock was read before the lock was taken.
    @discardableResult
    mutating func note(_ now: Duration) -> Duration {
        let now = times.isEmpty ? now : max(times[(oldest + times.count - 1) % times.count], now)
        if times.count < rate.count {
            times.append(now)
        } else {
            times[oldest] = now
            oldest = (oldest + 1) % rate.count
        }
        return now
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
