import Nautilus

/// The rules of one origin's circuit, as pure transitions: no clock, no lock, no randomness.
///
/// Time and the length of pauses come in as parameters, changes go out. `CircuitBreaker` is the shell that feeds it
/// under a lock.
struct CircuitMachine: Sendable {
    /// The state of the circuit.
    enum State: Sendable {
        case closed
        case open(until: Duration)
        /// The number of the probe that is under way; nil when none is.
        case halfOpen(probe: Int?)
    }

    /// A request that was let through.
    struct Permit: Hashable, Sendable {
        /// Counts the states; a request that was let through in an earlier one tells nothing of the present.
        let epoch: Int
        /// Whether it decides alone.
        let isProbe: Bool
        /// How often the circuit had opened in a row by then.
        let openings: Int
        /// The last pause of those; zero when there was none.
        let previousPause: Duration
    }

    /// How a request ended.
    enum Outcome: Hashable, Sendable {
        case success
        /// The origin failed; the pause to make if that opens the circuit.
        case failure(pause: Duration)
        /// It says nothing of the origin: cancelled, not sent.
        case nothing
    }

    /// The answer to a request that wants to go.
    enum Answer: Hashable, Sendable {
        case go(Permit)
        /// How long until a probe may go; nil while one is under way.
        case refuse(nextProbe: Duration?)
    }

    private(set) var state = State.closed
    private var epoch = 0
    private var underWay = 0
    private var openings = 0
    private var previousPause = Duration.zero
    private var window: OutcomeWindow
    private let limits: CircuitLimits

    init(limits: CircuitLimits) {
        self.limits = limits
        self.window = OutcomeWindow(length: limits.window)
    }

    /// The value of keeping it: of a closed circuit how far it is on its way to open, of an open one the pause that is
    /// left. An origin that is forgotten begins with a closed circuit, and has to fail anew for it to open.
    mutating func worth(at now: Duration) -> OriginWorth {
        guard underWay == 0 else { return .indispensable }
        guard case .closed = state else {
            guard case .open(let end) = state, end > now else { return .some(1) }
            return .some(1 + (end - now) / .seconds(1))
        }
        window.forget(at: now)
        let part = min(1, Double(window.total) / Double(limits.minimumThroughput))
        return window.total == 0 ? .nothing : .some(part * window.failureRate)
    }

    /// The permit while the circuit is closed, for which no time has to be known; nil when ``ask(at:)`` has to answer.
    mutating func immediatePermit() -> Permit? {
        guard case .closed = state else { return nil }
        return permit(isProbe: false)
    }

    /// A request wants to go.
    mutating func ask(at now: Duration) -> (answer: Answer, change: CircuitEvent.Change?) {
        switch state {
        case .closed:
            return (.go(permit(isProbe: false)), nil)
        case .open(let end) where now < end:
            return (.refuse(nextProbe: end - now), nil)
        case .halfOpen(probe: .some):
            return (.refuse(nextProbe: nil), nil)
        case .open, .halfOpen(probe: nil):
            epoch += 1
            state = .halfOpen(probe: epoch)
            return (.go(permit(isProbe: true)), .probed)
        }
    }

    /// A request that was let through has ended.
    mutating func end(_ permit: Permit, _ outcome: Outcome, at now: Duration) -> CircuitEvent.Change? {
        underWay -= 1
        // It was let through in another state: a slow failure must not close again what has recovered since.
        guard permit.epoch == epoch else { return nil }
        switch (outcome, permit.isProbe) {
        case (.nothing, false):
            return nil
        case (.nothing, true):
            epoch += 1
            state = .halfOpen(probe: nil)
            return nil
        case (.success, false):
            window.count(isFailure: false, at: now)
            return nil
        case (.success, true):
            close()
            return .closed
        case (.failure(let pause), false):
            window.count(isFailure: true, at: now)
            guard window.total >= limits.minimumThroughput, window.failureRate >= limits.failureRate else { return nil }
            return open(for: pause, at: now)
        case (.failure(let pause), true):
            return open(for: pause, at: now)
        }
    }

    private mutating func permit(isProbe: Bool) -> Permit {
        underWay += 1
        return Permit(epoch: epoch, isProbe: isProbe, openings: openings, previousPause: previousPause)
    }

    private mutating func open(for pause: Duration, at now: Duration) -> CircuitEvent.Change {
        epoch += 1
        openings += 1
        previousPause = pause
        state = .open(until: now + pause.clampedToCentury)
        return .opened(pause: pause.clampedToCentury)
    }

    private mutating func close() {
        epoch += 1
        (openings, previousPause) = (0, .zero)
        state = .closed
        // Outcomes from before the pause no longer count.
        window = OutcomeWindow(length: limits.window)
    }
}

extension CircuitMachine {
    /// The state as callers see it.
    func visibleState(at now: Duration) -> CircuitState {
        switch state {
        case .closed: .closed
        case .open(let end) where now < end: .open(remaining: end - now)
        case .open: .halfOpen(isProbing: false)
        case .halfOpen(let probe): .halfOpen(isProbing: probe != nil)
        }
    }
}

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
