import Foundation
import Nautilus

/// A simulation that runs concurrent code in one thread, in an order that a seed decides, on a clock that never waits.
/// ```swift
/// let note = try await Simulation(seed: 7).run { simulation in
///     try await GetNote(id: 7).schedule(with: Notes(transport: server, clock: simulation.clock))
/// }
/// ```
/// Each seed is one interleaving, the same on every run. Time moves only when no job is left, straight to the next
/// deadline on ``clock``. Code that would hang throws ``SimulationError/stuck(seed:at:jobCount:)``. What the body
/// creates without a clock, randomness or shared defaults such as `OriginBudgets` uses the simulation's. It runs the
/// body, its task groups and `async let`s, nonisolated async functions, actors without an executor of their own, and
/// tasks started by ``task(_:)``; unstructured `Task`s, the main actor and callbacks on other threads keep an order of
/// their own.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class Simulation: Sendable {
    /// The seed that decides the order; 0 means first come, first served.
    public let seed: UInt64
    /// The simulation's time. Starts at zero.
    public let clock: ManualClock
    /// Randomness determined by the seed.
    public let random: SeededRandomSource

    let executor: SimulationExecutor
    let background = BackgroundWork()
    let maxJobs: Int
    let grace: Duration
    private let hasRun = Locked(false)

    /// Creates a simulation.
    ///
    /// - Parameters:
    ///   - seed: The seed of the order and the randomness. Default: 0, first come, first served.
    ///   - maxJobs: The number of jobs after which the simulation gives up. A job is a piece of work between two
    ///     suspensions. Default: ten million, about ten seconds' worth.
    ///   - grace: How long, in real time, other threads get to bring work before the simulation counts as stuck. A
    ///     simulation waits this long only if it is stuck. Default: 5 s, enough for a busy machine.
    public init(seed: UInt64 = 0, maxJobs: Int = 10_000_000, grace: Duration = .seconds(5)) {
        let executor = SimulationExecutor(seed: seed)
        self.seed = seed
        self.executor = executor
        self.clock = ManualClock(settle: { _ in await executor.settle() })
        self.random = SeededRandomSource(seed: seed)
        self.maxJobs = maxJobs
        self.grace = grace
    }

    /// A closure that runs before each job, on the simulation's thread, with the job's number: 0 for the next one after
    /// the closure was set. Nil, the default: nothing runs.
    ///
    /// A job is the work between two suspensions, so a test that makes one change before job 0, then before job 1, and so
    /// on, in a simulation of its own each, has tried the change at every suspension point of a call without naming any:
    /// ```swift
    /// simulation.beforeJob = { number in if number == step { session.signOutNow() } }
    /// ```
    /// How many jobs a call takes is no promise; a test goes on until a run ends before the job it waits for.
    public var beforeJob: (@Sendable (_ number: Int) -> Void)? {
        get { executor.beforeJob }
        set { executor.beforeJob = newValue }
    }

    /// Runs `body` to its end, once.
    ///
    /// Tasks of ``task(_:)`` that are still running then are cancelled, and may finish what they can without time
    /// passing.
    ///
    /// - Throws: The error of `body`; ``SimulationError``, after cancelling `body`, when the body cannot end.
    public func run<Result: Sendable>(
        _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) async throws -> Result {
        let isFirst = hasRun.withLock { hasRun in
            defer { hasRun = true }
            return !hasRun
        }
        guard isFirst else { throw SimulationError.alreadyRun }
        let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
        let process = SimulatedProcess(
            on: SimulatedSystem(clock: clock, random: random) { self.start($0) }
        )
        // Created here rather than on the thread, so that it has the caller's task-local values, in particular the
        // current test.
        let root = Task(executorPreference: executor) {
            let result = await self.result(of: body, in: process)
            outcome.withLock { $0 = result }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A separate thread, so that none of the pool is blocked: other work may be waiting for one.
                Thread.detachNewThread {
                    // What `beforeJob` starts belongs to the simulation, too.
                    let result = SimulatedProcess.$current.withValue(process) {
                        defer { self.finish(cancelling: root) }
                        return self.work { outcome.withLock { $0 } }
                    }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            root.cancel()
        }
    }

    /// Starts a task in the simulation that need not be awaited; a replacement for an unstructured `Task`.
    ///
    /// The task has the caller's task-local values but not its cancellation, and is cancelled when the simulation's
    /// body ends.
    @discardableResult
    public func task<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> {
        background.keep { end in
            Task(executorPreference: executor) {
                defer { end() }
                return try await operation()
            }
        }
    }

    /// Returns once nothing else can run before time moves on.
    ///
    /// Several callers return one after the other, each when the work of the others is done.
    public func settle() async {
        await executor.settle()
    }

    private func result<Result: Sendable>(
        of body: @escaping @Sendable (Simulation) async throws -> Result,
        in process: SimulatedProcess
    ) async -> Swift.Result<Result, any Error> {
        await SimulatedProcess.$current.withValue(process) {
            do {
                return .success(try await body(self))
            } catch {
                return .failure(error)
            }
        }
    }

    private func start(_ work: @escaping BackgroundTask.Work) -> Task<Void, Never> {
        background.keep { end in
            Task(executorPreference: executor) {
                await work()
                end()
            }
        }
    }
}

/// The loop on the simulation's thread.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Simulation {
    /// Runs jobs, and moves the clock when there are none, until there is an outcome.
    func work<Result>(until outcome: () -> Swift.Result<Result, any Error>?) -> Swift.Result<Result, any Error> {
        for count in 0..<maxJobs {
            if let outcome = outcome() { return outcome }
            if executor.runNext() { continue }
            // Tasks that are waiting for this moment come before time.
            if executor.resumeSettled() { continue }
            if advanceClock() { continue }
            if waitForOthers(or: { outcome() != nil }) { continue }
            return .failure(SimulationError.stuck(seed: seed, at: clock.now.offset, jobCount: count))
        }
        return .failure(SimulationError.tooManyJobs(seed: seed, at: clock.now.offset, limit: maxJobs))
    }

    /// Cancels what is left, and lets it finish without time passing.
    func finish(cancelling root: Task<Void, Never>) {
        root.cancel()
        background.cancel()
        // Enough for thousands of tasks to end, but with an end for tasks that ignore cancellation.
        for _ in 0..<1_000_000 {
            guard executor.runNext() || executor.resumeSettled() else { return executor.end(abandoning: false) }
        }
        executor.end(abandoning: true)
    }

    /// Moves the clock to the next deadline; false when there is none.
    private func advanceClock() -> Bool {
        guard let next = clock.nextDeadline else { return false }
        clock.advance(to: next)
        return true
    }

    /// Gives other threads time to bring a job, a sleeper or the end; false when they bring nothing.
    private func waitForOthers(or isOver: () -> Bool) -> Bool {
        // In slices, since only a job ends the wait early.
        let slices = max(1, Int(grace / .milliseconds(10)))
        return (0..<slices).contains { _ in
            executor.waitForJob(milliseconds: 10) || clock.nextDeadline != nil || isOver()
        }
    }
}

/// Why a ``Simulation`` ended before its body did.
public enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing can run, nothing sleeps on the clock, and the body has not returned: something waits for ever.
    case stuck(seed: UInt64, at: Duration, jobCount: Int)
    /// More jobs ran than the limit allows: something runs in circles.
    case tooManyJobs(seed: UInt64, at: Duration, limit: Int)
    /// The simulation has already run; create another one.
    case alreadyRun

    /// The failure, its time on the clock, and the seed with which to repeat it.
    public var description: String {
        switch self {
        case .stuck(let seed, let time, let count):
            """
            Stuck at \(time.brief) (seed \(seed), jobs run: \(count)): nothing can run, nobody sleeps on the simulation's \
            clock, and the body has not returned. Something waits for what never comes, or for work outside the \
            simulation (an unstructured `Task` instead of `simulation.task`, the main actor, another clock).
            """
        case .tooManyJobs(let seed, let time, let limit):
            "Not done at \(time.brief) (seed \(seed), jobs run: \(limit)): something goes round in a circle."
        case .alreadyRun:
            "A simulation runs once; make another one."
        }
    }
}
