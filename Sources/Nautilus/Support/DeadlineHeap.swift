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
