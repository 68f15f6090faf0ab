/// The sleepers on a shared clock, and the times of its next alarms.
///
/// Outside of ``SharedSleepClock``, which is generic: there is one queue for the clocks of all kinds, and the compiler makes
/// it for this sleeper alone. Every call with a timeout goes through it.
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
