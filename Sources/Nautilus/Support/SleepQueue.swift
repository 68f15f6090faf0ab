/// Who sleeps, in the order of waking: by deadline, then by who asked first.
///
/// A binary heap of deadlines beside a table of sleepers: continuations, or whatever else is to be woken. A cancelled sleeper leaves the table at once and its
/// deadline stays in the heap until it comes to the top, so that ten thousand timeouts are cancelled in no time.
package struct SleepQueue<Sleeper: Sendable>: Sendable {
    private struct Alarm: Comparable {
        let deadline: Duration
        let id: Int

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.deadline, left.id) < (right.deadline, right.id)
        }
    }

    private var alarms: [Alarm] = []
    private var sleepers: [Int: Sleeper] = [:]

    package init() {}

    package var count: Int { sleepers.count }

    /// The earliest deadline of those who still sleep.
    package var nextDeadline: Duration? {
        mutating get {
            while let first = alarms.first, sleepers[first.id] == nil { removeFirst() }
            return alarms.first?.deadline
        }
    }

    package mutating func insert(_ sleeper: Sleeper, id: Int, deadline: Duration) {
        sleepers[id] = sleeper
        alarms.append(Alarm(deadline: deadline, id: id))
        siftUp()
    }

    package mutating func popFirst() -> Sleeper? {
        guard nextDeadline != nil else { return nil }
        return sleepers.removeValue(forKey: removeFirst().id)
    }

    package mutating func remove(_ id: Int) -> Sleeper? {
        guard let sleeper = sleepers.removeValue(forKey: id) else { return nil }
        // Long deadlines that are always cancelled never come to the top: clear them out now and then.
        if alarms.count > 2 * sleepers.count + 64 {
            alarms = alarms.filter { sleepers[$0.id] != nil }.sorted()
        }
        return sleeper
    }

    @discardableResult
    private mutating func removeFirst() -> Alarm {
        alarms.swapAt(0, alarms.count - 1)
        let first = alarms.removeLast()
        siftDown()
        return first
    }

    private mutating func siftUp() {
        var child = alarms.count - 1
        while child > 0, case let parent = (child - 1) / 2, alarms[child] < alarms[parent] {
            alarms.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            let children = (2 * parent + 1)..<min(2 * parent + 3, max(alarms.count, 2 * parent + 1))
            guard let child = children.min(by: { alarms[$0] < alarms[$1] }), alarms[child] < alarms[parent] else {
                return
            }
            alarms.swapAt(child, parent)
            parent = child
        }
    }
}
