/// A clock whose sleepers share one sleep of the clock underneath: for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of calls long finished. Here a
/// cancelled sleeper leaves nothing behind but one alarm, which rings for the sleepers of that time.
package final class SharedSleepClock<Base: Clock<Duration>>: Clock {
    package typealias Instant = Base.Instant

    private let base: Base
    private let zero: Instant
    private let state = Locked(SharedSleepers())

    package init(_ base: Base) {
        self.base = base
        self.zero = base.now
    }

    package var now: Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.count } }

    /// Sleeps until `deadline`.
    ///
    /// - Parameter tolerance: Ignored: the alarm is shared with sleepers that may have none.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.makeId() }
        let deadline = zero.duration(to: deadline)
        try await state.wait { state, waiter in
            state.insert(.task(waiter), id: id, until: deadline)
        } joined: { needsAlarm, _ in
            if needsAlarm { setAlarm(deadline) }
        } leave: { state, _ in
            guard case .task(let waiter) = state.remove(id) else { return nil }
            return waiter
        }
    }

    /// Wakes the sleepers that are due at `time`, then at the next deadline, and so on until there are none.
    ///
    /// The task is detached and no `BackgroundTask`: it serves the calls of the whole process, and must not end with
    /// the one that happened to start it.
    private func setAlarm(_ time: Duration) {
        Task.detached(priority: .high) { [self] in
            var next: Duration? = time
            while let time = next {
                // It fails only when cancelled, which never happens.
                try? await base.sleep(until: zero.advanced(by: time), tolerance: nil)
                next = ring(at: time)
            }
        }
    }

    /// Wakes the sleepers that are due.
    ///
    /// - Returns: When to ring again; nil when there are no sleepers, or when another alarm rings early enough.
    private func ring(at time: Duration) -> Duration? {
        let now = max(time, zero.duration(to: base.now))
        let (due, next) = state.withLock { $0.ring(at: time, now: now) }
        due.forEach { $0.wake() }
        return next
    }
}

extension SharedSleepClock: AlarmClock {
    package func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let deadline = zero.duration(to: base.now) + delay
        return state.withLock { state in
            let id = state.makeId()
            if state.insert(.alarm(ring), id: id, until: deadline) { setAlarm(deadline) }
            return id
        }
    }

    package func cancelAlarm(_ id: Int) {
        _ = state.withLock { $0.remove(id) }
    }
}

/// The sleepers on a shared clock, and the times of its next alarms.
///
/// Outside of ``SharedSleepClock``, which is generic: there is one queue for the clocks of all kinds, and the compiler
/// makes it for this sleeper alone. Every call with a timeout goes through it.
struct SharedSleepers {
    enum Sleeper: Sendable {
        case task(Waiter<Void>)
        case alarm(@Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let waiter): waiter.resume()
            case .alarm(let ring): ring()
            }
        }
    }

    private var lastId = 0
    private var queue = SleepQueue<Sleeper>()
    /// When the alarms that are set ring, counted from the clock's zero, the next one last. Mostly there is one; each
    /// sleeper that is due before all others adds one.
    private var alarms: [Duration] = []

    var count: Int { queue.count }

    mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    /// Puts a sleeper into the queue; true when an alarm has to be set for it, since the next one rings too late.
    mutating func insert(_ sleeper: Sleeper, id: Int, until deadline: Duration) -> Bool {
        queue.insert(sleeper, id: id, deadline: deadline)
        return setsAlarm(for: deadline)
    }

    mutating func remove(_ id: Int) -> Sleeper? { queue.remove(id) }

    /// Takes the sleepers that are due at `now` out of the queue, when the alarm for `time` has rung.
    ///
    /// - Returns: When to ring again, too; nil when there are no sleepers, or when another alarm rings early enough.
    mutating func ring(at time: Duration, now: Duration) -> (due: [Sleeper], next: Duration?) {
        if let index = alarms.lastIndex(of: time) { alarms.remove(at: index) }
        var due: [Sleeper] = []
        while let deadline = queue.nextDeadline, deadline <= now, let sleeper = queue.popFirst() {
            due.append(sleeper)
        }
        guard let next = queue.nextDeadline, setsAlarm(for: next) else { return (due, nil) }
        return (due, next)
    }

    /// Notes an alarm for `deadline`; false when one that is set rings early enough.
    private mutating func setsAlarm(for deadline: Duration) -> Bool {
        if let next = alarms.last, next <= deadline { return false }
        alarms.append(deadline)
        return true
    }
}

/// Sleepers in the order of waking: by deadline, then by order of asking.
///
/// A heap of deadlines beside a table of sleepers, such as continuations. A cancelled sleeper leaves the table at once
/// and its deadline stays in the heap until it comes to the top, so that ten thousand timeouts are cancelled in no
/// time.
///
/// Inlinable, so that the test kit's clock has a queue made for its sleepers: a simulation does little else.
@usableFromInline package struct SleepQueue<Sleeper: Sendable>: Sendable {
    @usableFromInline var deadlines = DeadlineHeap()
    @usableFromInline var sleepers: [Int: Sleeper] = [:]

    @inlinable package init() {}

    @inlinable package var count: Int { sleepers.count }

    /// The earliest deadline of those that still sleep.
    @inlinable package var nextDeadline: Duration? {
        mutating get {
            while let first = deadlines.first {
                if sleepers[first.id] != nil { return first.deadline }
                deadlines.removeFirst()
            }
            return nil
        }
    }

    @inlinable package mutating func insert(_ sleeper: Sleeper, id: Int, deadline: Duration) {
        sleepers[id] = sleeper
        deadlines.insert(id, at: deadline)
    }

    @inlinable package mutating func popFirst() -> Sleeper? {
        while let first = deadlines.first {
            deadlines.removeFirst()
            if let sleeper = sleepers.removeValue(forKey: first.id) { return sleeper }
        }
        return nil
    }

    @inlinable package mutating func remove(_ id: Int) -> Sleeper? {
        guard let sleeper = sleepers.removeValue(forKey: id) else { return nil }
        // Long deadlines that are always cancelled never come to the top: clear them out now and then.
        if deadlines.count > 2 * sleepers.count + 64 { deadlines.keep { sleepers[$0] != nil } }
        return sleeper
    }
}

/// Deadlines in the order of their coming, each with its sleeper's number: a binary heap.
@usableFromInline package struct DeadlineHeap: Sendable {
    private struct Alarm: Comparable {
        let deadline: Duration
        let id: Int

        static func < (left: Alarm, right: Alarm) -> Bool {
            left.deadline < right.deadline || left.deadline == right.deadline && left.id < right.id
        }
    }

    private var alarms: [Alarm] = []

    @usableFromInline package init() {}

    @usableFromInline package var count: Int { alarms.count }

    /// The earliest deadline; of several, the one with the lowest number.
    @usableFromInline package var first: (deadline: Duration, id: Int)? {
        alarms.first.map { ($0.deadline, $0.id) }
    }

    @usableFromInline package mutating func insert(_ id: Int, at deadline: Duration) {
        let alarm = Alarm(deadline: deadline, id: id)
        var child = alarms.count
        alarms.append(alarm)
        while child > 0, case let parent = (child - 1) / 2, alarm < alarms[parent] {
            alarms[child] = alarms[parent]
            child = parent
        }
        alarms[child] = alarm
    }

    @usableFromInline package mutating func removeFirst() {
        let last = alarms.removeLast()
        guard !alarms.isEmpty else { return }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < alarms.count else { break }
            if child + 1 < alarms.count, alarms[child + 1] < alarms[child] { child += 1 }
            guard alarms[child] < last else { break }
            alarms[parent] = alarms[child]
            parent = child
        }
        alarms[parent] = last
    }

    /// Forgets all but those whose number `isKept`.
    @usableFromInline package mutating func keep(where isKept: (Int) -> Bool) {
        // Sorted is a heap, too.
        alarms = alarms.filter { isKept($0.id) }.sorted()
    }
}

/// The time since a moment, on whichever clock was injected.
///
/// `any Clock<Duration>` hides the type of its instants; this opens the clock once and keeps only durations.
package struct Stopwatch: Sendable {
    /// Durations are counted from here, since an instant has no fixed layout: a stopwatch is copied all the time.
    private static let reference = ContinuousClock.now

    private let start: Duration
    /// Reads any other clock than the continuous one; nil for that, which nearly every clock is.
    private let read: (@Sendable () -> Duration)?

    package init(_ clock: any Clock<Duration>) {
        read = clock is ContinuousClock ? nil : Self.reader(of: clock)
        start = read == nil ? Self.reference.duration(to: .now) : .zero
    }

    /// The time since the stopwatch was made. Never negative on a monotonic clock.
    package var elapsed: Duration {
        if let read { return read() }
        return Self.reference.duration(to: .now) - start
    }

    private static func reader<C: Clock<Duration>>(of clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
