import Nautilus

/// A clock that stands still until a test moves it, and remembers every sleep that was requested.
///
/// ```swift
/// let clock = ManualClock()
/// async let nap: Void = clock.sleep(for: .seconds(60))
/// try await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(60))
/// try await nap
/// #expect(clock.sleeps == [.seconds(60)])
/// ```
/// Everything that takes part in a test shares the clock, from any task or thread. None of its operations trap:
/// instants saturate, and time never runs backwards.
public final class ManualClock: Clock {
    struct State: CountedState {
        var now: Duration = .zero
        var sleeps: [Duration] = []
        /// How many sleeps and alarms have been requested.
        var requestCount = 0
        var queue = SleepQueue<Sleeper>()
        /// How many entries of the queue are alarms.
        var alarmCount = 0
        var waiters = CountWaiters()
        var alarmWaiters = CountWaiters()

        var count: Int { queue.count - alarmCount }

        /// Takes the next sleeper or alarm that is due at `now` out of the queue.
        mutating func popFirst() -> Sleeper? { noteRemoval(of: queue.popFirst()) }
        mutating func remove(_ id: Int) -> Sleeper? { noteRemoval(of: queue.remove(id)) }

        private mutating func noteRemoval(of sleeper: Sleeper?) -> Sleeper? {
            if case .alarm = sleeper { alarmCount -= 1 }
            return sleeper
        }
    }

    enum Sleeper: Sendable {
        case task(Waiter<Void>)
        case alarm(@Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let sleeper): sleeper.resume()
            case .alarm(let ring): ring()
            }
        }
    }

    let state = Locked(State())
    let settle: @Sendable (ManualClock) async -> Void

    /// Creates a clock at zero.
    public convenience init() {
        self.init { await $0.settleByYielding() }
    }

    init(settle: @escaping @Sendable (ManualClock) async -> Void) {
        self.settle = settle
    }

    /// The present time: zero until something advances it.
    public var now: Instant { Instant(state.withLock { $0.now }) }

    /// One nanosecond; the clock itself is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Every sleep that was requested, in order, as the time from the request to its deadline; this includes sleeps
    /// that were cancelled or over at once. Time limits are not included, since they are alarms.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// How many tasks sleep now, not counting time limits, which are alarms.
    public var sleeperCount: Int { state.withLock { $0.count } }

    /// How many alarms are set now: one for each time limit in effect, of an attempt, a call, a refresh, or an
    /// operation of a credential store.
    public var alarmCount: Int { state.withLock { $0.alarmCount } }

    /// The deadline of the next sleeper to wake or alarm to ring; nil when there is none.
    public var nextDeadline: Instant? { state.withLock { $0.queue.nextDeadline }.map(Instant.init) }

    /// Sleeps until the clock has been advanced to `deadline`; returns at once if that has passed.
    ///
    /// - Parameter tolerance: Ignored: a sleeper wakes exactly at its deadline.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.sleeps.append(deadline.offset - state.now)
            state.requestCount += 1
            return state.requestCount
        }
        try await state.wait { state, sleeper -> [Waiter<Void>]? in
            guard deadline.offset > state.now else { return nil }
            state.queue.insert(.task(sleeper), id: id, deadline: deadline.offset)
            return state.waiters.reached(state.count)
        } joined: { waiters, sleeper in
            if let waiters { waiters.forEach { $0.resume() } } else { sleeper.resume() }
        } leave: { state, _ in
            guard case .task(let sleeper) = state.remove(id) else { return nil }
            return sleeper
        }
    }
}

extension ManualClock: AlarmClock {
    /// Sets an alarm. ``advance(by:)`` and the like ring it on their own thread; an alarm that is already due rings at
    /// once.
    package func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let (id, waiters): (Int, [Waiter<Void>]?) = state.withLock { state in
            state.requestCount += 1
            guard delay > .zero else { return (state.requestCount, nil) }
            let deadline = Instant(state.now).advanced(by: delay)
            state.queue.insert(.alarm(ring), id: state.requestCount, deadline: deadline.offset)
            state.alarmCount += 1
            return (state.requestCount, state.alarmWaiters.reached(state.alarmCount))
        }
        if let waiters { waiters.forEach { $0.resume() } } else { ring() }
        return id
    }

    /// Cancels an alarm; does nothing when it has rung.
    package func cancelAlarm(_ id: Int) {
        _ = state.withLock { $0.remove(id) }
    }
}

extension ManualClock {
    /// A moment on a ``ManualClock``: the time since the clock's zero.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's zero.
        public let offset: Duration

        /// Creates a moment; an offset of more than `Int64.max` seconds counts as `Int64.max` seconds, which means for
        /// ever.
        public init(_ offset: Duration) {
            self.offset = offset.saturated
        }

        /// The moment that is `duration` later; it saturates.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset + duration.saturated)
        }

        /// The time from here to `other`.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether `left` is earlier than `right`.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }

        /// The time since the clock's zero.
        public var description: String { offset.description }
    }
}

extension Duration {
    /// The duration limited to ±`Int64.max` seconds, so that two of them can be added without overflow.
    fileprivate var saturated: Duration {
        min(max(self, .seconds(-Int64.max)), .seconds(Int64.max))
    }
}

extension ManualClock {
    /// Moves the clock, waking the sleepers that are due.
    ///
    /// Sleepers wake in the order of their deadlines, and the clock stops at each deadline on the way. What they do
    /// next runs afterwards or on other threads; use ``run(for:)`` to let them sleep again on the way.
    ///
    /// - Parameter duration: How far to move; nothing happens when it is negative. If two tasks advance at once, the
    ///   clock moves by the sum.
    public func advance(by duration: Duration) {
        guard duration >= .zero else { return }
        var left = duration
        while let sleeper = step(&left) { sleeper.wake() }
    }

    /// Moves the clock to `deadline`, waking the sleepers that are due; does nothing when `deadline` has passed.
    public func advance(to deadline: Instant) {
        while let sleeper = step(to: deadline) { sleeper.wake() }
    }

    /// Moves the clock in one step, as if the process had been suspended: sleepers that became due meanwhile wake now,
    /// too late.
    ///
    /// ``advance(by:)`` stops at each deadline, so that every sleeper wakes in time; here, time has passed while
    /// nothing could run.
    ///
    /// - Parameter duration: How long; nothing happens when it is negative.
    public func suspend(for duration: Duration) {
        let due = state.withLock { state -> [Sleeper] in
            state.now = max(state.now, Instant(state.now).advanced(by: duration).offset)
            var due: [Sleeper] = []
            while let next = state.queue.nextDeadline, next <= state.now, let sleeper = state.popFirst() {
                due.append(sleeper)
            }
            return due
        }
        due.forEach { $0.wake() }
    }

    /// Returns once at least `count` tasks sleep, without waiting for real time to pass.
    ///
    /// Time limits do not count as sleepers: an attempt that waits for its answer is not one, whereas a call that waits
    /// before a retry is. If a test is still waiting after 5 s, it says on standard error what for, and goes on
    /// waiting.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForSleepers(count: Int) async throws {
        try await state.waitForCount(count, of: "sleepers on the clock")
    }

    /// Returns once at least `count` alarms are set; otherwise like ``waitForSleepers(count:)``. Useful for a test that
    /// lets a time limit pass.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForAlarms(count: Int) async throws {
        try await state.waitForCount(count, of: "alarms of the clock", in: \.alarmWaiters) { $0.alarmCount }
    }

    /// Moves to the next deadline if that is at most `left` away, and takes its sleeper out; otherwise moves by all of
    /// `left`.
    private func step(_ left: inout Duration) -> Sleeper? {
        let before = left
        let (sleeper, gone) = state.withLock { state -> (Sleeper?, Duration) in
            let start = Instant(state.now)
            let end = start.advanced(by: before)
            guard let next = state.queue.nextDeadline, next <= end.offset else {
                state.now = end.offset
                return (nil, before)
            }
            state.now = max(state.now, next)
            return (state.popFirst(), start.duration(to: Instant(state.now)))
        }
        left = before - gone
        return sleeper
    }

    private func step(to deadline: Instant) -> Sleeper? {
        state.withLock { state in
            guard let next = state.queue.nextDeadline, next <= deadline.offset else {
                state.now = max(state.now, deadline.offset)
                return nil
            }
            state.now = max(state.now, next)
            return state.popFirst()
        }
    }
}

extension ManualClock {
    /// Moves the clock from deadline to deadline, letting the woken work proceed in between, until no sleepers are
    /// left.
    ///
    /// In a ``Simulation`` this is exact. Elsewhere there is no way to know when other tasks are idle, so the clock
    /// moves on when nothing new has gone to sleep although this task has yielded many times; where that matters,
    /// prefer ``waitForSleepers(count:)`` and ``advance(by:)``. Returns early when the task is cancelled, and never if
    /// work sleeps again and again; ``run(for:)`` does end.
    public func run() async {
        await run(until: nil)
    }

    /// Moves the clock by `duration` like ``run()``: work that wakes on the way can sleep and wake again.
    public func run(for duration: Duration) async {
        let end = now.advanced(by: duration)
        await run(until: end)
        advance(to: end)
    }

    private func run(until end: Instant?) async {
        while !Task.isCancelled {
            await settle(self)
            guard let next = nextDeadline else { return }
            if let end, next > end { return }
            advance(to: next)
        }
    }

    /// Yields until nothing has gone to sleep for a while.
    func settleByYielding() async {
        var seen = state.withLock { $0.requestCount }
        var quiet = 0
        while quiet < 100 {
            // A detached task of low priority runs after the work that is ready to run.
            await Task.detached(priority: .background) { await Task.yield() }.value
            let asked = state.withLock { $0.requestCount }
            quiet = asked == seen ? quiet + 1 : 0
            seen = asked
        }
    }
}
