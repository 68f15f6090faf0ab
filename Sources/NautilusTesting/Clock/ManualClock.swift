import Nautilus

/// A clock that stands still until a test moves it, and remembers every sleep that was asked of it.
///
/// ```swift
/// let clock = ManualClock()
/// async let nap: Void = clock.sleep(for: .seconds(60))
/// try await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(60))
/// try await nap
/// #expect(clock.sleeps == [.seconds(60)])
/// ```
/// It is shared by everything that takes part in a test and may be used from any task or thread. Nothing on it traps:
/// instants saturate, and time never runs backwards.
public final class ManualClock: Clock {
    struct State: CountedState {
        var now: Duration = .zero
        var sleeps: [Duration] = []
        /// How many sleeps and alarms have been asked for.
        var requestCount = 0
        var queue = SleepQueue<Sleeper>()
        /// How many of the queue are alarms.
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
        case task(CheckedContinuation<Void, any Error>)
        case alarm(@Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
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

    /// The time: zero until something advances it.
    public var now: Instant { Instant(state.withLock { $0.now }) }

    /// One nanosecond; the clock itself is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Every sleep that was asked for, in order, as the time from asking to its deadline; a sleep that was cancelled,
    /// or that was over at once, is among them. A time limit is not: it is an alarm.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// How many sleep now; time limits are alarms, and do not.
    public var sleeperCount: Int { state.withLock { $0.count } }

    /// How many alarms are set now: one for each time limit that is under way, of an attempt, a call, a refresh, or an
    /// operation of a credential store.
    public var alarmCount: Int { state.withLock { $0.alarmCount } }

    /// The deadline of the next sleeper to wake, or alarm to ring; nil without any.
    public var nextDeadline: Instant? { state.withLock { $0.queue.nextDeadline }.map(Instant.init) }

    /// Sleeps until the clock has been advanced to `deadline`; a deadline that has passed returns at once.
    ///
    /// - Parameter tolerance: Ignored: a sleeper wakes exactly at its deadline.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.sleeps.append(deadline.offset - state.now)
            state.requestCount += 1
            return state.requestCount
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { fallAsleep($0, id: id, until: deadline.offset) }
        } onCancel: {
            if case .task(let sleeper) = state.withLock({ $0.remove(id) }) {
                sleeper.resume(throwing: CancellationError())
            }
        }
    }

    private func fallAsleep(_ continuation: CheckedContinuation<Void, any Error>, id: Int, until deadline: Duration) {
        enum Next {
            case cancelled, over
            case asleep([CountWaiters.Continuation])
        }
        let next: Next = state.withLock { state in
            // A cancelled task's flag is set before its handler runs: either it is seen here, or the handler will find
            // the sleeper in the queue.
            if Task.isCancelled { return .cancelled }
            if deadline <= state.now { return .over }
            state.queue.insert(.task(continuation), id: id, deadline: deadline)
            return .asleep(state.waiters.reached(state.count))
        }
        switch next {
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .over: continuation.resume()
        case .asleep(let waiters): waiters.forEach { $0.resume() }
        }
    }
}

extension ManualClock: AlarmClock {
    /// Sets an alarm, which ``advance(by:)`` and its like ring on their own thread; one that is due rings at once.
    public func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let (id, waiters): (Int, [CountWaiters.Continuation]?) = state.withLock { state in
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

    /// Cancels an alarm; nothing when it has rung.
    public func cancelAlarm(_ id: Int) {
        _ = state.withLock { $0.remove(id) }
    }
}

extension ManualClock {
    /// A moment on a ``ManualClock``: the time since the clock's zero.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's zero.
        public let offset: Duration

        /// Creates a moment; an offset of more than `Int64.max` seconds is taken as that many, for ever.
        public init(_ offset: Duration) {
            self.offset = offset.saturated
        }

        /// The moment that is `duration` later; saturates.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset + duration.saturated)
        }

        /// The time from here to `other`.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether `left` is earlier.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }

        /// The time since the clock's zero.
        public var description: String { offset.description }
    }
}

extension Duration {
    /// Within ±`Int64.max` seconds, where two can be added without an overflow.
    fileprivate var saturated: Duration {
        min(max(self, .seconds(-Int64.max)), .seconds(Int64.max))
    }
}

extension ManualClock {
    /// Moves the clock, waking the sleepers that are due.
    ///
    /// They wake in the order of their deadlines, and the clock stops at each deadline on the way. Work that they do
    /// next runs afterwards or on other threads; use ``run(for:)`` to let it sleep again on the way.
    ///
    /// - Parameter duration: How far; nothing happens when it is negative. Two tasks that advance at once move the
    ///   clock by the sum.
    public func advance(by duration: Duration) {
        guard duration >= .zero else { return }
        var left = duration
        while let sleeper = step(&left) { sleeper.wake() }
    }

    /// Moves the clock to `deadline`, waking the sleepers that are due; nothing happens when it has passed.
    public func advance(to deadline: Instant) {
        while let sleeper = step(to: deadline) { sleeper.wake() }
    }

    /// Moves the clock in one step, as when the process was suspended: sleepers that were due meanwhile wake now, too
    /// late.
    ///
    /// ``advance(by:)`` stops at each deadline, so that every sleeper wakes in time; here time has passed and nothing
    /// could run.
    ///
    /// - Parameter duration: For how long; nothing happens when it is negative.
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

    /// Returns once at least `count` sleep, without any real time passing.
    ///
    /// Time limits do not sleep: an attempt that waits for its answer is not among the sleepers, and a call that waits
    /// before a retry is one. A test that waits in vain says for what after 5 s, on standard error, and goes on waiting.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForSleepers(count: Int) async throws {
        try await state.waitForCount(count, of: "sleepers on the clock")
    }

    /// Returns once at least `count` alarms are set, otherwise as ``waitForSleepers(count:)``: for a test that lets a time
    /// limit pass.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForAlarms(count: Int) async throws {
        try await state.waitForCount(count, of: "alarms of the clock", in: \.alarmWaiters) { $0.alarmCount }
    }

    /// Goes to the next deadline if it is at most `left` away, and takes its sleeper out; otherwise goes all of `left`.
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
    /// Moves the clock from deadline to deadline, letting the woken work proceed in between, until there are no
    /// sleepers.
    ///
    /// In a ``Simulation`` this is exact. Elsewhere there is no way to know when other tasks are idle, so the clock
    /// moves on when nothing new has gone to sleep while this task gave way many times; prefer
    /// ``waitForSleepers(count:)`` and ``advance(by:)`` where it matters. Returns early when the task is cancelled, and
    /// never for work that sleeps again and again: ``run(for:)`` has an end.
    public func run() async {
        await run(until: nil)
    }

    /// Moves the clock by `duration` like ``run()``: work that wakes on the way can sleep, and wake, again.
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

    /// Gives way until nothing has gone to sleep for a while.
    func settleByYielding() async {
        var seen = state.withLock { $0.requestCount }
        var quiet = 0
        while quiet < 100 {
            // A detached task of low priority comes after the work that is ready to run.
            await Task.detached(priority: .background) { await Task.yield() }.value
            let asked = state.withLock { $0.requestCount }
            quiet = asked == seen ? quiet + 1 : 0
            seen = asked
        }
    }
}
