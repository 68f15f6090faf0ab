import Nautilus

/// How many requests have succeeded and failed recently, counted in ten slices of time; the oldest slice is dropped as a
/// whole.
///
/// One count per slice instead of one time stamp per request makes the cost the same at any throughput.
struct OutcomeWindow: Sendable {
    private let sliceLength: Int64  // nanoseconds
    private var newestEnd: Duration
    private var successes = SlidingSum()
    private var failures = SlidingSum()

    /// Creates a window of this length, which is at least ten nanoseconds.
    init(length: Duration) {
        sliceLength = max(1, length.wholeNanoseconds / SlidingSum.sliceCount)
        newestEnd = .nanoseconds(sliceLength)
    }

    /// How many requests are in the window.
    var total: Int { Int(successes.sum + failures.sum) }

    /// The share of requests that failed; zero when there were none. It takes a single division, which is exact for
    /// rates such as 3 of 10.
    var failureRate: Double { total == 0 ? 0 : Double(failures.sum) / Double(total) }

    /// Counts one outcome, and forgets those that are too old by now.
    mutating func count(isFailure: Bool, at now: Duration) {
        forget(at: now)
        if isFailure { failures.add(1) } else { successes.add(1) }
    }

    /// Drops the slices that are too old by now. If time runs backwards, because of the order of locks, nothing is
    /// dropped.
    mutating func forget(at now: Duration) {
        // Nearly always true: comparing durations costs less than converting one.
        guard now >= newestEnd else { return }
        let number = now.wholeNanoseconds / sliceLength
        successes.advance(to: number)
        failures.advance(to: number)
        newestEnd = .nanoseconds(sliceLength) * (number + 1)
    }
}
