/// A budget in proportion to successes, as Finagle has it: sized for servers and other busy clients.
///
/// Whatever the load, retries are at most a part of it: `ratio` retries for each success of the last seconds, and some
/// on top, so that a client that makes few calls can retry, too. Within `timeToLive`, counted in whole tenths, there are
/// never more retries than
///
///     ratio × successes + minimumRetriesPerSecond × timeToLive
///
/// Deposits of good times expire: an hour of successes does not pay for a storm.
///
/// Retries that the server has asked for, by refusing the request unprocessed and saying when to come back, are counted by
/// themselves, within the same bound, and take nothing from the others: after a 429, which is a healthy server's rule, each
/// counts as a tenth, after a 503 as one.
///
/// Source: Finagle's `RetryBudget`, where every call makes a deposit, and not every success: here, an outage leaves no
/// more than the minimum.
public final class RatioBudget: RetryBudget {
    /// The balance of the retries and the successes of the last seconds, in tenths of the time to live.
    private struct Window: Sendable {
        static let sliceCount: Int64 = 10

        private var slices = [Int64](repeating: 0, count: Int(sliceCount))
        private(set) var latest: Int64 = 0
        private(set) var sum: Int64 = 0

        /// Forgets the slices that have expired when slice `number` is on.
        mutating func advance(to number: Int64) {
            // A thread that has read the clock before another may come after it.
            guard number > latest else { return }
            for step in 1...min(number - latest, Self.sliceCount) {
                let index = Int((latest + step) % Self.sliceCount)
                sum -= slices[index]
                slices[index] = 0
            }
            latest = number
        }

        /// Adds to the slice that is on, or to an earlier one, if that has not expired.
        mutating func add(_ amount: Int64, to number: Int64? = nil) {
            let number = number ?? latest
            guard latest - number < Self.sliceCount else { return }
            slices[Int(number % Self.sliceCount)] += amount
            sum += amount
        }
    }

    private struct Windows: Sendable {
        var window = Window()
        /// Of retries that the server has asked for.
        var patience = Window()

        subscript(charge: RetryCharge) -> Window {
            get { charge.isInvited ? patience : window }
            _modify {
                if charge.isInvited { yield &patience } else { yield &window }
            }
        }

        mutating func advance(to number: Int64) {
            window.advance(to: number)
            patience.advance(to: number)
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
    ///   - minimumRetriesPerSecond: How many retries are always allowed, on average over `timeToLive`, 0…1 000 000; they
    ///     may come all at once. Default: 1: ten retries for a client that has just started, and next to nothing on top
    ///     for one that makes hundreds of calls a second.
    ///   - timeToLive: How long deposits and withdrawals count, at least 10 ms, to a tenth: one expires after nine to ten
    ///     tenths. Default: 10 s, as in Finagle: longer than a gap between calls, shorter than an outage.
    ///   - clock: The clock that measures. Default: `ContinuousClock`, since the server's time goes on while the device
    ///     sleeps.
    public init(
        ratio: Double = 0.1,
        minimumRetriesPerSecond: Double = 1,
        timeToLive: Duration = .seconds(10),
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        let timeToLive = max(.milliseconds(10), timeToLive.clampedToCentury)
        self.slice = timeToLive / Int(Window.sliceCount)
        self.depositOfSuccess = Self.amount(ratio, limit: 1000)
        // A hundred years of a million retries a second do not fit into 64 bits.
        let reserve = Double(Self.amount(minimumRetriesPerSecond, limit: 1_000_000)) * (timeToLive / .seconds(1))
        self.reserve = Int64(min(reserve.rounded(), 1e18))
        self.stopwatch = Stopwatch(clock)
    }

    /// How many retries it would allow now, in fractions.
    public var balance: Double { Double(reserve + sums.window) / Double(Self.cost) }

    /// How many retries it would allow now that the server has asked for by a 503, in fractions.
    public var patience: Double { Double(reserve + sums.patience) / Double(Self.cost) }

    /// Whether more has been withdrawn of late than deposited.
    public var isDrawnOn: Bool { min(sums.window, sums.patience) < 0 }

    private var sums: (window: Int64, patience: Int64) {
        let number = sliceNumber
        return windows.withLock { windows in
            windows.advance(to: number)
            return (windows.window.sum, windows.patience.sum)
        }
    }

    /// Takes one retry, unless less is left; a tenth of one for a retry that the server has asked for by a 429.
    public func withdraw(_ charge: RetryCharge) -> RetryPermit? {
        let (number, cost) = (sliceNumber, charge == .postponed ? Self.cost / 10 : Self.cost)
        let slice = windows.withLock { windows -> Int64? in
            windows.advance(to: number)
            guard reserve + windows[charge].sum >= cost else { return nil }
            windows[charge].add(-cost)
            return windows[charge].latest
        }
        return slice.map { slice in
            RetryPermit(from: self, for: charge) { self.giveBack(cost, for: charge, to: slice) }
        }
    }

    /// A withdrawal that has expired is given back already.
    private func giveBack(_ cost: Int64, for charge: RetryCharge, to slice: Int64) {
        let number = sliceNumber
        windows.withLock { windows in
            windows.advance(to: number)
            windows[charge].add(cost, to: slice)
        }
    }

    /// Adds the deposit of a success; nothing is refunded.
    public func deposit(refunding charge: RetryCharge?) {
        let number = sliceNumber
        windows.withLock { windows in
            windows.advance(to: number)
            windows.window.add(depositOfSuccess)
            windows.patience.add(depositOfSuccess)
        }
    }

    private var sliceNumber: Int64 { Int64(stopwatch.elapsed / slice) }

    /// In millionths; NaN counts as 0.
    private static func amount(_ value: Double, limit: Double) -> Int64 {
        value > 0 ? Int64((min(value, limit) * Double(cost)).rounded()) : 0
    }
}
