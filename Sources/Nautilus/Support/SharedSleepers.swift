/// Who sleeps on a shared clock, and when its next alarm rings.
///
/// Outside of ``SharedSleepClock``, which is generic: there is one queue for the clocks of all kinds, and the compiler makes
/// it for this sleeper alone. Every call with a timeout goes through it.
struct SharedSleepers {
    enum Sleeper: Sendable {
        case task(CheckedContinuation<Void, any Error>)
        case alarm(@Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .alarm(let ring): ring()
            }
        }

        func cancel() {
            if case .task(let continuation) = self { continuation.resume(throwing: CancellationError()) }
        }
    }

    private var lastId = 0
    private var queue = SleepQueue<Sleeper>()
    /// When the next alarm rings, counted from the clock's zero; nil when none is set.
    private var alarm: Duration?

    var count: Int { queue.count }

    mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    /// Puts a sleeper into the queue; true when an alarm has to be set for it, since the next one rings too late.
    mutating func insert(_ sleeper: Sleeper, id: Int, until deadline: Duration) -> Bool {
        queue.insert(sleeper, id: id, deadline: deadline)
        if let alarm, alarm <= deadline { return false }
        alarm = deadline
        return true
    }

    mutating func remove(_ id: Int) -> Sleeper? { queue.remove(id) }

    /// Takes who is due at `now` out of the queue, when the alarm for `time` has rung.
    ///
    /// - Returns: When to ring again, too; nil when nobody sleeps, or when another alarm was set for an earlier time. One
    ///   that was overtaken rings for nothing: cancelling it would free its timer no sooner.
    mutating func ring(at time: Duration, now: Duration) -> (due: [Sleeper], next: Duration?) {
        var due: [Sleeper] = []
        while let deadline = queue.nextDeadline, deadline <= now, let sleeper = queue.popFirst() {
            due.append(sleeper)
        }
        guard alarm == time else { return (due, nil) }
        alarm = queue.nextDeadline
        return (due, alarm)
    }
}
