/// The pauses that origins have ordered: one call hears `Retry-After`, and all calls heed it.
///
/// A gate of its own for services without credentials; a `RefreshCoordinator` has one inside.
public final class OriginPauses: RetryGate {
    private let ends: Locked<[HttpOrigin: Duration]>  // on the stopwatch
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch

    /// Creates a gate without pauses.
    ///
    /// - Parameter clock: What pauses are measured and slept on. Default: `ContinuousClock`, since the server's time
    ///   goes on while the device sleeps.
    public init(clock: any Clock<Duration> = ContinuousClock()) {
        self.ends = Locked([:])
        self.clock = clock
        self.stopwatch = Stopwatch(clock)
    }

    /// Returns once no pause of `origin` runs, those included that are ordered while it waits.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        try Task.checkCancellation()
        // Looked at again after each sleep: somebody may have extended the pause.
        while case let remaining = remainingPause(of: origin), remaining > .zero {
            try await clock.sleep(for: remaining)
        }
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
    public func close(_ origin: HttpOrigin, for pause: Duration) {
        let now = stopwatch.elapsed
        let end = now + pause.addable
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            ends[origin] = max(ends[origin] ?? end, end)
        }
    }

    /// What is left of the pause that `origin` ordered; zero when there is none.
    public func remainingPause(of origin: HttpOrigin) -> Duration {
        let now = stopwatch.elapsed
        return ends.withLock { max(.zero, ($0[origin] ?? now) - now) }
    }
}
