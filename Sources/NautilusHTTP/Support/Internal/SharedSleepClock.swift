/// A clock whose sleepers share one sleep of the underlying clock, for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of finished calls. Here a cancelled
/// sleeper leaves behind at most one alarm, which then rings for the sleepers of that time.
final class SharedSleepClock<Base: Clock<Duration>>: Clock {
    package typealias Instant = Base.Instant

    private let base: Base
    private let zero: Instant
    private let state = Locked(SharedSleepers())

    init(_ base: Base) {
        self.base = base
        self.zero = base.now
    }

    var now: Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    /// How many sleepers there are now.
    var sleeperCount: Int { state.withLock { $0.count } }

    /// Sleeps until `deadline`.
    ///
    /// - Parameter tolerance: Ignored, since the alarm is shared with sleepers that may have no tolerance.
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
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

    /// Starts a task that wakes the sleepers that are due at `time`, then those at the next deadline, and so on until
    /// there are none.
    ///
    /// The task is detached and not a `BackgroundTask`, since it serves the calls of the whole process and must not end
    /// with the call that happened to start it.
    private func setAlarm(_ time: Duration) {
        Task.detached(priority: .high) { [self] in
            var next: Duration? = time
            while let time = next {
                // The sleep fails only when cancelled, which never happens.
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
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let deadline = zero.duration(to: base.now) + delay
        return state.withLock { state in
            let id = state.makeId()
            if state.insert(.alarm(ring), id: id, until: deadline) { setAlarm(deadline) }
            return id
        }
    }

    func cancelAlarm(_ id: Int) {
        _ = state.withLock { $0.remove(id) }
    }
}

/// The sleepers on a shared clock, and the times of its next alarms.
///
/// Not nested in ``SharedSleepClock``, which is generic, so that the compiler specialises the queue for this one type
/// of sleeper. Every call with a timeout goes through it.
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
    /// The times at which the alarms that are set will ring, counted from the clock's zero, the next one last. Usually
    /// there is only one; each sleeper that is due before all others adds one.
    private var alarms: [Duration] = []

    var count: Int { queue.count }

    mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    /// Puts a sleeper into the queue; returns true if an alarm has to be set for it, since the next one would ring too
    /// late.
    mutating func insert(_ sleeper: Sleeper, id: Int, until deadline: Duration) -> Bool {
        queue.insert(sleeper, id: id, deadline: deadline)
        return setsAlarm(for: deadline)
    }

    mutating func remove(_ id: Int) -> Sleeper? { queue.remove(id) }

    /// Removes the sleepers that are due at `now` from the queue, after the alarm for `time` has rung.
    ///
    /// - Returns: The sleepers, and when to ring again; nil if there are no more sleepers, or if another alarm rings
    ///   early enough.
    mutating func ring(at time: Duration, now: Duration) -> (due: [Sleeper], next: Duration?) {
        if let index = alarms.lastIndex(of: time) { alarms.remove(at: index) }
        var due: [Sleeper] = []
        while let deadline = queue.nextDeadline, deadline <= now, let sleeper = queue.popFirst() {
            due.append(sleeper)
        }
        guard let next = queue.nextDeadline, setsAlarm(for: next) else { return (due, nil) }
        return (due, next)
    }

    /// Notes an alarm for `deadline`; returns false if another alarm rings early enough.
    private mutating func setsAlarm(for deadline: Duration) -> Bool {
        if let next = alarms.last, next <= deadline { return false }
        alarms.append(deadline)
        return true
    }
}

/// Sleepers in the order in which they wake: by deadline, then by the order in which they were added.
///
/// It consists of a heap of deadlines and a table of sleepers, such as continuations. A cancelled sleeper leaves the
/// table at once, while its deadline stays in the heap until it comes to the top, so that cancelling is fast even for
/// ten thousand timeouts.
///
/// Inlinable, so that the queue is specialised for the sleepers of the test kit's clock: a simulation does little else.
@usableFromInline package struct SleepQueue<Sleeper: Sendable>: Sendable {
    @usableFromInline var deadlines = DeadlineHeap()
    @usableFromInline var sleepers: [Int: Sleeper] = [:]

    @inlinable package init() {}

    @inlinable package var count: Int { sleepers.count }

    /// The earliest deadline of a sleeper that still sleeps.
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
        // The deadlines of long timeouts that are always cancelled never come to the top, so they are cleared out now
        // and then.
        if deadlines.count > 2 * sleepers.count + 64 { deadlines.keep { sleepers[$0] != nil } }
        return sleeper
    }
}

/// Deadlines in order, each with its sleeper's number, as a binary heap.
@usableFromInline struct DeadlineHeap: Sendable {
    private struct Alarm: Comparable {
        let deadline: Duration
        let id: Int

        static func < (left: Alarm, right: Alarm) -> Bool {
            left.deadline < right.deadline || left.deadline == right.deadline && left.id < right.id
        }
    }

    private var alarms: [Alarm] = []

    @usableFromInline init() {}

    @usableFromInline var count: Int { alarms.count }

    /// The earliest deadline; of several equal ones, the one with the lowest number.
    @usableFromInline var first: (deadline: Duration, id: Int)? {
        alarms.first.map { ($0.deadline, $0.id) }
    }

    @usableFromInline mutating func insert(_ id: Int, at deadline: Duration) {
        let alarm = Alarm(deadline: deadline, id: id)
        var child = alarms.count
        alarms.append(alarm)
        while child > 0, case let parent = (child - 1) / 2, alarm < alarms[parent] {
            alarms[child] = alarms[parent]
            child = parent
        }
        alarms[child] = alarm
    }

    @usableFromInline mutating func removeFirst() {
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

    /// Removes all deadlines except those whose number `isKept`.
    @usableFromInline mutating func keep(where isKept: (Int) -> Bool) {
        // A sorted array is a heap.
        alarms = alarms.filter { isKept($0.id) }.sorted()
    }
}
