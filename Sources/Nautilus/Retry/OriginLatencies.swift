/// How long successful attempts have taken, by origin: shared by all calls that are given the same.
///
/// Given to `BackoffRetrier.factory(latencies:)`, it spares the retries that cannot finish: one that usually takes 400 ms
/// is not started when 100 ms are left until the call's deadline. The server would work on it for nothing.
///
/// ```swift
/// struct NotesService: HttpService {
///     let latencies = OriginLatencies()
///     var retrierFactory: any RetrierFactory { BackoffRetrier.factory(latencies: latencies) }
/// }
/// ```
public final class OriginLatencies: Sendable {
    /// The latest samples of one origin.
    private struct Samples: Sendable {
        /// More do not move the median by much, and sorting them takes microseconds.
        static let limit = 100

        private var samples: [(time: Duration, latency: Duration)] = []
        private var oldest = 0

        mutating func add(_ latency: Duration, at time: Duration) {
            guard samples.count == Self.limit else { return samples.append((time, latency)) }
            samples[oldest] = (time, latency)
            oldest = (oldest + 1) % Self.limit
        }

        func latencies(since time: Duration) -> [Duration] {
            samples.filter { $0.time >= time }.map(\.latency)
        }
    }

    private let minimumCount: Int
    private let maximumAge: Duration
    private let stopwatch: Stopwatch
    private let samples: Locked<RecentlyUsed<HttpOrigin, Samples>>

    /// Creates a record without samples.
    ///
    /// - Parameters:
    ///   - minimumCount: How many samples it takes to tell what is usual, 1…100. Default: 10: fewer may all be of one bad
    ///     moment.
    ///   - maximumAge: How long a sample counts. Default: 60 s: a device changes its network, a server its load.
    ///   - clock: What time is measured on. Default: `ContinuousClock`; give it the service's.
    public init(
        minimumCount: Int = 10,
        maximumAge: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.minimumCount = max(1, min(minimumCount, Samples.limit))
        self.maximumAge = maximumAge.addable
        self.stopwatch = Stopwatch(clock)
        // More than the origins of an app; a crawler's must not fill the memory.
        self.samples = Locked(RecentlyUsed(limit: 128))
    }

    /// What half of the latest attempts to `origin` have not exceeded; nil while there are too few.
    public func median(of origin: HttpOrigin) -> Duration? {
        let start = stopwatch.elapsed - maximumAge
        guard let recent = samples.withLock({ $0.value(for: origin) })?.latencies(since: start),
            recent.count >= minimumCount
        else { return nil }
        return recent.sorted()[(recent.count - 1) / 2]
    }

    /// Takes note of an attempt that has succeeded.
    public func record(_ latency: Duration, of origin: HttpOrigin) {
        let now = stopwatch.elapsed
        samples.withLock { samples in
            samples.update(origin, default: Samples()) { $0.add(latency, at: now) }
        }
    }

    /// The time, to measure a latency by.
    var now: Duration { stopwatch.elapsed }
}
