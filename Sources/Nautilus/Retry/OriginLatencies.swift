/// How long the server has taken to answer well, by origin, from the sending of a request to the header of its answer:
/// shared by all calls that are given the same.
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
/// ``Hedging`` asks it when an attempt is slow. Give both the same, and each success is noted once.
public final class OriginLatencies: Sendable {
    /// The process's own, for those that do not name another: a service is a value, often made anew for every call.
    public static let shared = OriginLatencies()

    private let minimumCount: Int
    private let maximumAge: Duration
    private let stopwatch: Stopwatch
    private let samples: Locked<RecentlyUsed<HttpOrigin, LatencySamples>>

    /// Creates a record without samples.
    ///
    /// - Parameters:
    ///   - minimumCount: How many samples it takes to tell the usual latency, 1…100. Default: 10: fewer may all be of
    ///     one bad moment.
    ///   - maximumAge: How long a sample counts. Default: 60 s: a device changes its network, a server its load.
    ///   - clock: The clock that measures. Default: `ContinuousClock`; give it the service's.
    public init(
        minimumCount: Int = 10,
        maximumAge: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.minimumCount = max(1, min(minimumCount, LatencySamples.limit))
        self.maximumAge = maximumAge.addable
        self.stopwatch = Stopwatch(clock)
        // More than the origins of an app; a crawler's must not fill the memory.
        self.samples = Locked(RecentlyUsed(limit: 128))
    }

    /// The time that half of the latest attempts to `origin` have not exceeded; nil while there are too few.
    public func median(of origin: HttpOrigin) -> Duration? {
        quantile(0.5, of: origin)
    }

    /// The time that this share of the latest attempts to `origin` have not exceeded; nil while there are too few.
    ///
    /// - Parameters:
    ///   - quantile: The share, cut to 0…1: 0.95 for the time that one attempt in twenty exceeds.
    ///   - origin: Where the attempts went.
    public func quantile(_ quantile: Double, of origin: HttpOrigin) -> Duration? {
        let start = stopwatch.elapsed - maximumAge
        return samples.withLock { samples in
            samples.withValue(for: origin) { samples in
                samples.forget(before: start)
                return samples.count < minimumCount ? nil : samples.quantile(quantile)
            } ?? nil
        }
    }

    /// Takes note of an attempt that has succeeded.
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
