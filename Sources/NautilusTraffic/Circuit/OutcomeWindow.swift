import Nautilus

/// How many requests have succeeded and failed of late: counted in buckets of time, of which the oldest drops out
/// whole.
///
/// One count a bucket in place of one time stamp a request: the cost is the same at any throughput.
struct OutcomeWindow: Sendable {
    private struct Bucket {
        var successes = 0
        var failures = 0
    }

    /// A tenth of the window leaves at a time: fine enough for the rate to be smooth, few enough to add up.
    static let bucketCount = 10

    private let bucketLength: Int64  // nanoseconds
    private var buckets = Array(repeating: Bucket(), count: Self.bucketCount)
    private var newest: Int64 = 0  // the number of its bucket, counted from the stopwatch's zero
    private var newestEnd: Duration
    private var sum = Bucket()

    /// Creates a window of this length, at least ten nanoseconds.
    init(length: Duration) {
        bucketLength = max(1, length.wholeNanoseconds / Int64(Self.bucketCount))
        newestEnd = .nanoseconds(bucketLength)
    }

    /// How many requests are in the window.
    var total: Int { sum.successes + sum.failures }

    /// The share of them that has failed; zero for none. One division, which is exact for rates that are written as 3
    /// of 10.
    var failureRate: Double { total == 0 ? 0 : Double(sum.failures) / Double(total) }

    /// Counts one outcome, and forgets those that are too old by now.
    mutating func count(isFailure: Bool, at now: Duration) {
        forget(at: now)
        let index = Int(newest % Int64(Self.bucketCount))
        if isFailure {
            buckets[index].failures += 1
            sum.failures += 1
        } else {
            buckets[index].successes += 1
            sum.successes += 1
        }
    }

    /// Drops the buckets that are too old by now. Time that runs backwards, by the order of locks, drops none.
    mutating func forget(at now: Duration) {
        // Nearly always: comparing durations costs less than taking one apart.
        guard now >= newestEnd else { return }
        let number = now.wholeNanoseconds / bucketLength
        guard number > newest else { return }
        for outdated in 1...min(number - newest, Int64(Self.bucketCount)) {
            let index = Int((newest + outdated) % Int64(Self.bucketCount))
            sum.successes -= buckets[index].successes
            sum.failures -= buckets[index].failures
            buckets[index] = Bucket()
        }
        newest = number
        newestEnd = .nanoseconds(bucketLength) * (number + 1)
    }
}
