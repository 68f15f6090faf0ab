/// The requests that wait for a worker, kept as the times at which they leave: in the order in which they came.
struct WaitingLine: Sendable {
    private var leaving: [Duration] = []
    private var head = 0

    /// How many are still there.
    mutating func count(at time: Duration) -> Int {
        while head < leaving.count, leaving[head] <= time { head += 1 }
        // Those that have left are cleared away when they are more than half, which costs one move each.
        if head * 2 > leaving.count {
            leaving.removeFirst(head)
            head = 0
        }
        return leaving.count - head
    }

    mutating func join(until time: Duration) {
        leaving.append(time)
    }

    mutating func clear() {
        leaving = []
        head = 0
    }
}
