/// Jobs that can run, and which of them runs next.
struct JobQueue: Sendable {
    private var jobs: [UnownedJob] = []
    private var head = 0
    private var generator: SeededGenerator?

    /// Creates a queue that picks at random by `seed`; first come, first served for 0.
    init(seed: UInt64) {
        self.generator = seed == 0 ? nil : SeededGenerator(seed: seed)
    }

    var isEmpty: Bool { head == jobs.count }

    mutating func append(_ job: UnownedJob) {
        jobs.append(job)
    }

    mutating func next() -> UnownedJob? {
        guard !isEmpty else { return nil }
        return generator == nil ? removeFirst() : removeRandom()
    }

    private mutating func removeRandom() -> UnownedJob? {
        guard let index = generator?.next(upperBound: UInt64(jobs.count)) else { return nil }
        jobs.swapAt(Int(index), jobs.count - 1)
        return jobs.popLast()
    }

    private mutating func removeFirst() -> UnownedJob {
        defer {
            head += 1
            // Jobs that have been taken are cleared away when they are more than half, which costs one move a job.
            if head * 2 > jobs.count {
                jobs.removeFirst(head)
                head = 0
            }
        }
        return jobs[head]
    }
}
