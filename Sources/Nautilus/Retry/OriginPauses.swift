/// The pauses ordered by origins: one `Retry-After` pauses every call.
///
/// Use it as the gate of services without credentials; a `RefreshCoordinator` contains one.
///
/// The gate opens gradually. A thousand retries that have waited for the same moment do not all pass at that moment:
/// the first goes at once, the others follow in slots of 20 ms, each at a random moment of its slot. When the first
/// ones are rejected again, the gate closes again, and those behind them are never sent. Retries that come after the
/// pause take slots as well, for as long as the pause was, but at least 1 s and at most 10 s. A retry that finds no
/// free slot within that time goes at a random moment of it.
public final class OriginPauses: RetryGate {
    /// The mean time between two retries that pass: fifty a second, the rate at which `Pacing` releases its waiters.
    static let interval = Duration.milliseconds(20)

    fileprivate struct Opening: Sendable {
        /// When the pause ends, on the stopwatch.
        var end: Duration
        /// When the next slot may begin.
        var nextSlot: Duration
        /// How long after the end of the pause retries take slots.
        var span: Duration

        func isOver(at now: Duration) -> Bool { max(end + span, nextSlot) <= now }
    }

    fileprivate struct Table: Sendable {
        var openings: [HttpOrigin: Opening] = [:]
        /// Expired entries are removed only once the table has this many, so that not every `close` scans it all.
        var limit = 64
    }

    private let table = Locked(Table())
    private let clock: any Clock<Duration>
    private let random: any RandomSource
    private let stopwatch: Stopwatch

    /// Creates a gate without pauses.
    ///
    /// - Parameters:
    ///   - clock: The clock that pauses are measured and slept on. Default: `ContinuousClock`, since the server's time
    ///     goes on while the device sleeps.
    ///   - random: The source of a retry's moment within its slot. Default: the system's generator, which differs for
    ///     each client.
    public init(clock: any Clock<Duration> = DefaultClock.current, random: any RandomSource = .system) {
        self.clock = clock
        self.random = random
        self.stopwatch = Stopwatch(clock)
    }

    /// Returns when `origin` is not paused (pauses ordered meanwhile count, too) and this retry has its slot.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        // Checked again after the wait: the retries that went first may have been rejected.
        repeat {
            try await waitOut(origin)
            try await takeSlot(to: origin)
        } while remainingPause(of: origin) > .zero
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is already running stays.
    public func close(_ origin: HttpOrigin, for pause: Duration) {
        guard pause > .zero else { return }
        let now = stopwatch.elapsed
        let span = min(max(pause, .seconds(1)), .seconds(10))
        table.withLock { $0.close(origin, until: now + pause.clampedToCentury, span: span, at: now) }
    }

    /// The rest of the pause that `origin` ordered; zero when there is none. Turns do not count.
    public func remainingPause(of origin: HttpOrigin) -> Duration {
        let now = stopwatch.elapsed
        return table.withLock { max(.zero, ($0.openings[origin]?.end ?? now) - now) }
    }
}

/// The steps of passing, for a gate that waits for more than pauses.
extension OriginPauses {
    /// Returns once `origin` is not paused.
    func waitOut(_ origin: HttpOrigin) async throws {
        try Task.checkCancellation()
        // Checked again after each sleep: the pause may have been extended.
        while case let remaining = remainingPause(of: origin), remaining > .zero {
            try await clock.sleep(for: remaining)
        }
    }

    /// Returns when this retry has its slot; at once when retries do not take slots.
    ///
    /// - Parameter havingWaited: Whether the retry has waited for something other than a pause, with others that go on
    ///   at the same moment.
    func takeSlot(to origin: HttpOrigin, havingWaited: Bool = false) async throws {
        guard havingWaited || table.withLock({ $0.openings[origin] != nil }) else { return }
        let (now, draw) = (stopwatch.elapsed, random.clampedFraction())
        let wait = table.withLock { table in
            if havingWaited { table.open(origin, at: now) }
            return table.openings[origin]?.takeSlot(at: now, draw: draw) ?? .zero
        }
        if wait > .zero { try await clock.sleep(for: wait) }
    }
}

extension OriginPauses.Table {
    fileprivate mutating func close(_ origin: HttpOrigin, until end: Duration, span: Duration, at now: Duration) {
        if let running = openings[origin], running.end >= end { return }
        add(.init(end: end, nextSlot: end, span: span), origin, at: now)
    }

    /// Makes the retries that go on now take slots, unless they do already.
    fileprivate mutating func open(_ origin: HttpOrigin, at now: Duration) {
        if let running = openings[origin], !running.isOver(at: now) { return }
        add(.init(end: now, nextSlot: now, span: .seconds(1)), origin, at: now)
    }

    private mutating func add(_ opening: OriginPauses.Opening, _ origin: HttpOrigin, at now: Duration) {
        openings[origin] = opening
        guard openings.count >= limit else { return }
        openings = openings.filter { !$0.value.isOver(at: now) }
        limit = max(64, 2 * openings.count)
    }
}

extension OriginPauses.Opening {
    /// How long a retry that comes at `now` waits for its slot.
    ///
    /// - Parameter draw: A random number from 0 to 1.
    fileprivate mutating func takeSlot(at now: Duration, draw: Double) -> Duration {
        if isOver(at: now) { return .zero }
        // The first goes at once; a lone retry has no others to avoid.
        if nextSlot <= now {
            nextSlot = now + OriginPauses.interval
            return .zero
        }
        // So many are waiting that their slots would take longer than `span`.
        if nextSlot - now >= span { return span.scaled(by: draw) }
        defer { nextSlot += OriginPauses.interval }
        return nextSlot - now + OriginPauses.interval.scaled(by: draw)
    }
}
