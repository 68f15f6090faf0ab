/// When each of a server's workers is free again: a binary heap, the first of them on top.
struct WorkerPool: Sendable {
    private var free: [Duration]

    init(count: Int) {
        free = Array(repeating: .zero, count: max(count, 1))
    }

    /// When the first worker is free.
    var nextFree: Duration { free[0] }

    /// Gives that worker something to do until `end`.
    mutating func occupy(until end: Duration) {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < free.count else { break }
            if child + 1 < free.count, free[child + 1] < free[child] { child += 1 }
            guard free[child] < end else { break }
            free[parent] = free[child]
            parent = child
        }
        free[parent] = end
    }

    /// Frees all.
    mutating func reset(at time: Duration) {
        for index in free.indices { free[index] = time }
    }
}
