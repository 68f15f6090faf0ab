import Nautilus

/// A record, by origin, of how long successful requests took from their sending to the header of the answer.
///
/// As the `latencies` of `BackoffRetrier.Configuration` it avoids retries that cannot finish: a request that usually
/// takes 400 ms is not sent when 100 ms are left until the call's deadline.
/// ```swift
/// struct NotesService { let latencies = OriginLatencies() }
/// extension NotesService: HttpService {
///     var retrierFactory: any RetrierFactory { BackoffRetrier.factory(.standard.with { $0.latencies = latencies }) }
/// }
/// ```
/// All calls that are given the same object share it. ``Hedging`` uses it to tell when an attempt is slow: give both
/// the same record; each success is still recorded once.
public final class OriginLatencies: LatencyRecord {
    /// The process's own record, used by default, since a service is a value that is often made anew for every call. A
    /// simulation of the test kit has its own, on its clock.
    public static var shared: OriginLatencies { ofProcess.value }

    private static let ofProcess = OnePerProcess { OriginLatencies() }

    private let minimumCount: Int
    private let maximumAge: Duration
    private let stopwatch: Stopwatch
    private let samples: Locked<RecentlyUsed<HttpOrigin, LatencySamples>>

    /// Creates a record without samples.
    ///
    /// - Parameters:
    ///   - minimumCount: How many samples are needed to tell the usual latency, 1…100. Default: 10: fewer may all come
    ///     from one bad moment.
    ///   - maximumAge: How long a sample counts. Default: 60 s: a device changes its network, a server its load.
    ///   - clock: The clock that measures the samples' age. Default: `ContinuousClock`; give it the service's.
    public init(
        minimumCount: Int = 10,
        maximumAge: Duration = .seconds(60),
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.minimumCount = max(1, min(minimumCount, LatencySamples.limit))
        self.maximumAge = maximumAge.clampedToCentury
        self.stopwatch = Stopwatch(clock)
        // More than the origins of an app; a crawler's many origins must not fill the memory.
        self.samples = Locked(RecentlyUsed(limit: 128))
    }

    /// The time that half of the latest attempts to `origin` have not exceeded; nil while there are too few.
    public func median(of origin: HttpOrigin) -> Duration? {
        quantile(0.5, of: origin)
    }

    /// The time that a given share of the latest attempts to `origin` have not exceeded; nil while there are too few.
    ///
    /// - Parameters:
    ///   - quantile: The share, clamped to 0…1: 0.95 for the time that one attempt in twenty exceeds.
    ///   - origin: The origin that the attempts went to.
    public func quantile(_ quantile: Double, of origin: HttpOrigin) -> Duration? {
        let start = stopwatch.elapsed - maximumAge
        return samples.withLock { samples in
            samples.withValue(for: origin) { samples in
                samples.forget(before: start)
                return samples.count < minimumCount ? nil : samples.quantile(quantile)
            } ?? nil
        }
    }

    /// Records the latency of a successful attempt.
    public func record(_ latency: Duration, of origin: HttpOrigin) {
        let now = stopwatch.elapsed
        samples.withLock { samples in
            samples.update(origin, default: LatencySamples()) { samples in
                samples.forget(before: now - maximumAge)
                samples.add(latency, at: now)
            }
        }
    }
}

/// The latest latencies of one origin, in order of arrival and sorted by length.
///
/// Sorted on arrival: a hedging service asks before every attempt, and sorting a hundred samples each time would cost
/// more than the rest of the call.
struct LatencySamples: Sendable {
    /// The most samples that are kept; more would hardly move a quantile.
    static let limit = 100

    private var samples: [(time: Duration, latency: Duration)] = []
    private var sorted: [Duration] = []

    /// The number of samples.
    var count: Int { samples.count }

    /// Adds a sample, in place of the oldest when there are too many.
    mutating func add(_ latency: Duration, at time: Duration) {
        if samples.count == Self.limit { forgetFirst(1) }
        samples.append((time, latency))
        sorted.insert(latency, at: place(of: latency))
    }

    /// Forgets the samples that are older than `time`.
    mutating func forget(before time: Duration) {
        guard let oldest = samples.first, oldest.time < time else { return }
        forgetFirst(samples.firstIndex { $0.time >= time } ?? samples.count)
    }

    /// The shortest latency that at least this share of the samples do not exceed ("nearest rank"); nil without
    /// samples.
    func quantile(_ quantile: Double) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        // A comparison with NaN is false, so NaN counts as 0.
        let share = quantile > 0 ? min(quantile, 1) : 0
        // The margin makes up for rounding errors of `Double`: 0.95 of 20 is the nineteenth, not the twentieth.
        let rank = (share * Double(sorted.count) - 1e-9).rounded(.up)
        return sorted[max(0, Int(rank) - 1)]
    }

    private mutating func forgetFirst(_ count: Int) {
        for sample in samples.prefix(count) { sorted.remove(at: place(of: sample.latency)) }
        samples.removeFirst(count)
    }

    /// The index of the first sample that is not shorter, or the end when there is none.
    private func place(of latency: Duration) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < latency { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
