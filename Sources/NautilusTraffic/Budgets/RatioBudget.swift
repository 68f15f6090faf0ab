import Nautilus

/// A budget in proportion to successes, as in Finagle: sized for servers and other busy clients.
///
/// Within `timeToLive`, counted in whole tenths, there are never more retries than
///
///     ratio × successes + minimumRetriesPerSecond × timeToLive
///
/// Deposits expire: an hour of successes does not pay for a storm of retries. Retries that the server has asked for are
/// counted separately, within the same bound: as a tenth after a 429, as one otherwise.
///
/// Source: Finagle's `RetryBudget`, in which every call makes a deposit. Here only successes do, so that an outage
/// leaves no more than the minimum.
public final class RatioBudget: RetryBudget {
    private struct Windows: Sendable {
        /// The balance of retries and successes in the last seconds, in ten slices of the time to live.
        var window = SlidingSum()
        /// The window of retries that the server has asked for.
        var requested = SlidingSum()

        subscript(reason: RetryCost.Reason) -> SlidingSum {
            get { reason.isRequested ? requested : window }
            _modify {
                if reason.isRequested { yield &requested } else { yield &window }
            }
        }

        mutating func advance(to number: Int64) {
            window.advance(to: number)
            requested.advance(to: number)
        }
    }

    // In millionths of a retry, so that ten deposits of a tenth are exactly one; `Int64`, since an `Int` has 32 bits on
    // some watches.
    private static let cost: Int64 = 1_000_000

    private let depositOfSuccess: Int64
    private let reserve: Int64
    private let slice: Duration
    private let stopwatch: Stopwatch
    private let windows = Locked(Windows())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - ratio: How many retries a success pays for, 0…1000. Default: 0.1: retries add at most a tenth to the load
    ///     that succeeds, which servers have room for.
    ///   - minimumRetriesPerSecond: How many retries are always allowed, on average over `timeToLive`, 0…1 000 000;
    ///     they may come all at once. Default: 1: ten retries for a client that has just started, and next to nothing
    ///     extra for one that makes hundreds of calls a second.
    ///   - timeToLive: How long deposits and withdrawals count, at least 10 ms; to the precision of a tenth, so they
    ///     expire after nine to ten tenths. Default: 10 s, as in Finagle: longer than a gap between calls, shorter than
    ///     an outage.
    ///   - clock: The clock that measures. Default: `ContinuousClock`, since the server's time goes on while the device
    ///     sleeps.
    public init(
        ratio: Double = 0.1,
        minimumRetriesPerSecond: Double = 1,
        timeToLive: Duration = .seconds(10),
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        let timeToLive = max(.milliseconds(10), timeToLive.clampedToCentury)
        self.slice = timeToLive / Int(SlidingSum.sliceCount)
        self.depositOfSuccess = Self.amount(ratio, limit: 1000)
        // A hundred years of a million retries a second, in millionths, do not fit into 64 bits.
        let reserve = Double(Self.amount(minimumRetriesPerSecond, limit: 1_000_000)) * (timeToLive / .seconds(1))
        self.reserve = Int64(min(reserve.rounded(), 1e18))
        self.stopwatch = Stopwatch(clock)
    }

    /// How many retries it would allow now, fractions included.
    public var balance: Double { Double(reserve + sums.window) / Double(Self.cost) }

    /// How many retries it would allow now that a 503 has asked for, fractions included.
    public var requestedBalance: Double { Double(reserve + sums.requested) / Double(Self.cost) }

    /// Whether recent withdrawals exceed recent deposits.
    public var isDrawnOn: Bool { min(sums.window, sums.requested) < 0 }

    private var sums: (window: Int64, requested: Int64) {
        let number = sliceNumber
        return windows.withLock { windows in
            windows.advance(to: number)
            return (windows.window.sum, windows.requested.sum)
        }
    }

    /// Takes one retry, or a tenth of one when the server has asked for it by a 429, unless less is left.
    public func withdraw(_ reason: RetryCost.Reason) -> Bool {
        let (number, cost) = (sliceNumber, reason == .postponed ? Self.cost / 10 : Self.cost)
        return windows.withLock { windows in
            windows.advance(to: number)
            guard reserve + windows[reason].sum >= cost else { return false }
            windows[reason].add(-cost)
            return true
        }
    }

    /// Adds the deposit of a success; refunds nothing.
    public func deposit(refunding reason: RetryCost.Reason?) {
        let number = sliceNumber
        windows.withLock { windows in
            windows.advance(to: number)
            windows.window.add(depositOfSuccess)
            windows.requested.add(depositOfSuccess)
        }
    }

    private var sliceNumber: Int64 { Int64(stopwatch.elapsed / slice) }

    /// The value in millionths; NaN counts as 0.
    private static func amount(_ value: Double, limit: Double) -> Int64 {
        value > 0 ? Int64((min(value, limit) * Double(cost)).rounded()) : 0
    }
}
