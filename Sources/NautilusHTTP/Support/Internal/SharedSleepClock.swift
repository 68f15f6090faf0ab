/// A clock whose alarms share one sleep of the underlying clock, for timeouts, which are nearly always cancelled.
///
/// Cancelling `Task.sleep` wakes the task at once, but the runtime keeps its timer until it would have fired. With a
/// timeout of 60 s and a thousand calls a second, that is sixty thousand timers of finished calls. Here cancelled alarms
/// leave behind at most one sleep, which then ends for the alarms of that time.
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

    /// How many alarms are set now.
    var sleeperCount: Int { state.withLock { $0.count } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }

    /// Starts a task that rings the alarms that are due at `time`, then those at the next deadline, and so on until there
    /// are none.
    ///
    /// The task is detached and not a `BackgroundTask`, since it serves the calls of the whole process and must not end
    /// with the call that happened to start it.
    private func sleep(to time: Duration) {
        Task.detached(priority: .high) { [self] in
            var next: Duration? = time
            while let time = next {
                // The sleep fails only when cancelled, which never happens.
                try? await base.sleep(until: zero.advanced(by: time), tolerance: nil)
                next = ring(at: time)
            }
        }
    }

    /// Rings the alarms that are due.
    ///
    /// - Returns: When to ring again; nil when there are no alarms, or when another sleep ends early enough.
    private func ring(at time: Duration) -> Duration? {
        let now = max(time, zero.duration(to: base.now))
        let (due, next) = state.withLock { $0.ring(at: time, now: now) }
        due.forEach { $0() }
        return next
    }
}

extension SharedSleepClock: AlarmClock {
    func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let deadline = zero.duration(to: base.now) + delay
        return state.withLock { state in
            let id = state.makeId()
            if state.insert(ring, id: id, until: deadline) { sleep(to: deadline) }
            return id
        }
    }

    func cancelAlarm(_ id: Int) {
        state.withLock { $0.remove(id) }
    }
}

/// The alarms of a shared clock, and the times at which it sleeps to.
///
/// Not nested in ``SharedSleepClock``, which is generic, so that the compiler specialises the queue for this one type
/// of alarm. Every call with a timeout goes through it.
struct SharedSleepers {
    typealias Alarm = @Sendable () -> Void

    private var lastId = 0
    private var queue = SleepQueue<Alarm>()
    /// The times at which the sleeps under way will end, counted from the clock's zero, the next one last. Usually there
    /// is only one; each alarm that is due before all others adds one.
    private var sleeps: [Duration] = []

    var count: Int { queue.count }

    mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    /// Puts an alarm into the queue; returns true if a sleep has to begin for it, since the next one would end too late.
    mutating func insert(_ alarm: @escaping Alarm, id: Int, until deadline: Duration) -> Bool {
        queue.insert(alarm, id: id, deadline: deadline)
        return needsSleep(to: deadline)
    }

    mutating func remove(_ id: Int) { _ = queue.remove(id) }

    /// Removes the alarms that are due at `now` from the queue, after the sleep to `time` has ended.
    ///
    /// - Returns: The alarms, and when to ring again; nil if there are no more alarms, or if another sleep ends early
    ///   enough.
    mutating func ring(at time: Duration, now: Duration) -> (due: [Alarm], next: Duration?) {
        if let index = sleeps.lastIndex(of: time) { sleeps.remove(at: index) }
        var due: [Alarm] = []
        while let deadline = queue.nextDeadline, deadline <= now, let alarm = queue.popFirst() { due.append(alarm) }
        guard let next = queue.nextDeadline, needsSleep(to: next) else { return (due, nil) }
        return (due, next)
    }

    /// Notes a sleep to `deadline`; returns false if another sleep ends early enough.
    private mutating func needsSleep(to deadline: Duration) -> Bool {
        if let next = sleeps.last, next <= deadline { return false }
        sleeps.append(deadline)
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

    /// The earliest deadline; of several equal ones, the one with the lowest number.
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

    /// Removes all deadlines except those whose number `isKept`.
    @usableFromInline package mutating func keep(where isKept: (Int) -> Bool) {
        // A sorted array is a heap.
        alarms = alarms.filter { isKept($0.id) }.sorted()
    }
}
