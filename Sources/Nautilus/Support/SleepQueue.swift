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
