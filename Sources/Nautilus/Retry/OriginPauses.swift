/// The pauses that origins have ordered: one call hears `Retry-After`, and all calls heed it.
///
/// A gate of its own for services without credentials; a `RefreshCoordinator` has one inside.
///
/// It opens by and by. A thousand retries that have waited for the same moment are not let through at that moment: the
/// first goes at once, the others follow in turns of 20 ms, each at a random moment of its turn. When the first to go are
/// sent away again, the gate closes again, and those behind them have not been sent at all. For as long as the pause was,
/// at least 1 s and at most 10 s, retries that come later take turns as well; those that find no turn free in that time go
/// at a random moment of it.
public final class OriginPauses: RetryGate {
    /// The mean time between two that go: fifty a second, as `Pacing` releases its waiters.
    static let interval = Duration.milliseconds(20)

    fileprivate struct Opening: Sendable {
        /// When the pause ends, on the stopwatch.
        var end: Duration
        /// When the next turn may begin.
        var nextTurn: Duration
        /// For how long after the end retries take turns.
        var span: Duration

        func isOver(at now: Duration) -> Bool { max(end + span, nextTurn) <= now }
    }

    fileprivate struct Table: Sendable {
        var openings: [HttpOrigin: Opening] = [:]
        /// Those that are over are looked for when there are this many: else every order would look at all.
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
    ///   - random: The source of a retry's moment within its turn. Default: the system's generator, which no two
    ///     clients share.
    public init(clock: any Clock<Duration> = DefaultClock.current, random: any RandomSource = SystemRandomSource()) {
        self.clock = clock
        self.random = random
        self.stopwatch = Stopwatch(clock)
    }

    /// Returns once no pause of `origin` runs, those included that are ordered while it waits, and its turn has come.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        // Looked at again after the turn: those that went first may have been sent away.
        repeat {
            try await waitOut(origin)
            try await takeTurn(to: origin)
        } while remainingPause(of: origin) > .zero
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
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

/// The parts of passing, for a gate that waits for more than pauses.
extension OriginPauses {
    /// Returns once no pause of `origin` runs.
    func waitOut(_ origin: HttpOrigin) async throws {
        try Task.checkCancellation()
        // Looked at again after each sleep: the pause may have been extended.
        while case let remaining = remainingPause(of: origin), remaining > .zero {
            try await clock.sleep(for: remaining)
        }
    }

    /// Returns once the turn of a retry has come; at once when there are no turns.
    ///
    /// - Parameter havingWaited: Whether it has waited for something else than a pause, with others that go on at the
    ///   same moment.
    func takeTurn(to origin: HttpOrigin, havingWaited: Bool = false) async throws {
        guard havingWaited || table.withLock({ $0.openings[origin] != nil }) else { return }
        let (now, draw) = (stopwatch.elapsed, random.clampedFraction())
        let wait = table.withLock { table in
            if havingWaited { table.open(origin, at: now) }
            return table.openings[origin]?.takeTurn(at: now, draw: draw) ?? .zero
        }
        if wait > .zero { try await clock.sleep(for: wait) }
    }
}

extension OriginPauses.Table {
    fileprivate mutating func close(_ origin: HttpOrigin, until end: Duration, span: Duration, at now: Duration) {
        if let running = openings[origin], running.end >= end { return }
        add(.init(end: end, nextTurn: end, span: span), origin, at: now)
    }

    /// Has the retries that go on now do so in turns, unless they do already.
    fileprivate mutating func open(_ origin: HttpOrigin, at now: Duration) {
        if let running = openings[origin], !running.isOver(at: now) { return }
        add(.init(end: now, nextTurn: now, span: .seconds(1)), origin, at: now)
    }

    private mutating func add(_ opening: OriginPauses.Opening, _ origin: HttpOrigin, at now: Duration) {
        openings[origin] = opening
        guard openings.count >= limit else { return }
        openings = openings.filter { !$0.value.isOver(at: now) }
        limit = max(64, 2 * openings.count)
    }
}

extension OriginPauses.Opening {
    /// How long until the turn of a retry that comes at `now`.
    ///
    /// - Parameter draw: From 0 to 1.
    fileprivate mutating func takeTurn(at now: Duration, draw: Double) -> Duration {
        if isOver(at: now) { return .zero }
        // One has to be the first, and a retry that comes alone has none to keep clear of.
        if nextTurn <= now {
            nextTurn = now + OriginPauses.interval
            return .zero
        }
        // So many wait that turns would take longer than the pause did.
        if nextTurn - now >= span { return span.scaled(by: draw) }
        defer { nextTurn += OriginPauses.interval }
        return nextTurn - now + OriginPauses.interval.scaled(by: draw)
    }
}

/// A gate that retries pass: closed while a refresh is in flight, or while the origin has ordered a pause.
///
/// Shared by all calls of a service. `RefreshCoordinator` is one; `OriginPauses` is one for services without credentials.
public protocol RetryGate: Sendable {
    /// Returns once nothing holds back a retry to `origin`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func pass(to origin: HttpOrigin) async throws

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
    func close(_ origin: HttpOrigin, for pause: Duration)

    /// The rest of the pause that `origin` ordered; zero when there is none.
    func remainingPause(of origin: HttpOrigin) -> Duration

    /// The gate for calls that need no credential: with the same pauses, and held back by no refresh. Default: itself.
    var signedOut: any RetryGate { get }
}

extension RetryGate {
    /// Itself.
    public var signedOut: any RetryGate { self }
}
