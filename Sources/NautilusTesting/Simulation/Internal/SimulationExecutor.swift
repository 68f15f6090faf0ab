import Dispatch
import Nautilus

/// Collects the jobs of a ``Simulation`` from all threads and hands them out one at a time.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulationExecutor: TaskExecutor {
    enum Phase {
        /// Jobs wait for the simulation's thread.
        case simulating
        /// The simulation is over; remaining jobs run on a separate queue, so that nothing waits for ever.
        case over
        /// The simulation has given up on jobs that create jobs without end; such jobs are dropped.
        case abandoned
    }

    private struct State {
        var phase = Phase.simulating
        var jobs: JobQueue
        var settling: [CheckedContinuation<Void, Never>] = []
        var isThreadWaiting = false
        var beforeJob: (@Sendable (_ number: Int) -> Void)?
        /// How many jobs have run since `beforeJob` was set.
        var jobCount = 0

        /// The next job, its number, and what to call before it.
        mutating func next() -> (UnownedJob, Int, (@Sendable (Int) -> Void)?)? {
            guard let job = jobs.next() else { return nil }
            defer { jobCount += 1 }
            return (job, jobCount, beforeJob)
        }
    }

    private let state: Locked<State>
    private let arrivals = DispatchSemaphore(value: 0)
    private let stragglers = DispatchQueue(label: "Nautilus.Simulation.stragglers")

    init(seed: UInt64) {
        self.state = Locked(State(jobs: JobQueue(seed: seed)))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (phase, isThreadWaiting) = state.withLock { state in
            if state.phase == .simulating { state.jobs.append(job) }
            defer { state.isThreadWaiting = false }
            return (state.phase, state.isThreadWaiting)
        }
        if phase == .over { stragglers.async { self.run(job) } }
        if isThreadWaiting { arrivals.signal() }
    }

    /// Runs the next job on the calling thread; false when there is none.
    func runNext() -> Bool {
        guard let (job, number, beforeJob) = state.withLock({ $0.next() }) else { return false }
        beforeJob?(number)
        run(job)
        return true
    }

    /// The closure that is called before each job, with the job's number from 0.
    var beforeJob: (@Sendable (_ number: Int) -> Void)? {
        get { state.withLock { $0.beforeJob } }
        set { state.withLock { ($0.beforeJob, $0.jobCount) = (newValue, 0) } }
    }

    /// Suspends the caller until no job is left; several callers resume one after the other.
    func settle() async {
        await withCheckedContinuation { continuation in
            let isSimulating = state.withLock { state in
                if state.phase == .simulating { state.settling.append(continuation) }
                return state.phase == .simulating
            }
            if !isSimulating { continuation.resume() }
        }
    }

    /// Resumes the task that has waited longest for all jobs to be done; false when no task waits.
    func resumeSettled() -> Bool {
        let settled = state.withLock { $0.settling.isEmpty ? nil : $0.settling.removeFirst() }
        settled?.resume()
        return settled != nil
    }

    /// Blocks the calling thread until another thread brings a job; false when none came in time.
    func waitForJob(milliseconds: Int) -> Bool {
        let mustWait = state.withLock { state in
            state.isThreadWaiting = state.jobs.isEmpty
            return state.isThreadWaiting
        }
        guard mustWait else { return true }
        if arrivals.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return true }
        let isStillWaiting = state.withLock { state in
            defer { state.isThreadWaiting = false }
            return state.isThreadWaiting
        }
        // A job came after the wait had timed out: its signal must not be left for the next wait.
        if !isStillWaiting { arrivals.wait() }
        return !isStillWaiting
    }

    /// Ends the simulation. If jobs are `abandoned`, those that are left are dropped; otherwise there are none.
    func end(abandoning abandoned: Bool) {
        let settling = state.withLock { state in
            state.phase = abandoned ? .abandoned : .over
            defer { state.settling = [] }
            return state.settling
        }
        settling.forEach { $0.resume() }
    }

    private func run(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// The jobs that can run, and the choice of the next one.
struct JobQueue: Sendable {
    private var jobs: [UnownedJob] = []
    private var head = 0
    private var generator: SeededGenerator?

    /// Creates a queue that picks at random by `seed`, or first come, first served for 0.
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
            // Jobs that were taken are removed once they are more than half, which costs one move per job.
            if head * 2 > jobs.count {
                jobs.removeFirst(head)
                head = 0
            }
        }
        return jobs[head]
    }
}

/// The tasks of a ``Simulation`` that are not awaited, kept so that its end can cancel them.
final class BackgroundWork: Sendable {
    private struct State {
        var lastId = 0
        var cancellations: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    /// Keeps the task that `start` starts until it calls `end`, which may be before `start` returns.
    func keep<T, E>(_ start: (_ end: @escaping @Sendable () -> Void) -> Task<T, E>) -> Task<T, E> {
        let id = state.withLock { state in
            state.lastId += 1
            state.cancellations[state.lastId] = {}
            return state.lastId
        }
        let task = start { [state] in state.withLock { $0.cancellations[id] = nil } }
        state.withLock { state in
            if state.cancellations[id] != nil { state.cancellations[id] = { task.cancel() } }
        }
        return task
    }

    /// Cancels all tasks, in the order in which they started.
    func cancel() {
        let cancellations = state.withLock { $0.cancellations }
        for (_, cancel) in cancellations.sorted(by: { $0.key < $1.key }) { cancel() }
    }
}
