import Foundation
import Nautilus

/// Runs concurrent code in one thread, in an order that a seed decides, on a clock that never waits.
///
/// ```swift
/// @Test(arguments: 0..<100 as Range<UInt64>) func storm(seed: UInt64) async throws {
///     let results = try await Simulation(seed: seed).run { simulation in
///         let service = Notes(transport: server, clock: simulation.clock)
///         return try await withThrowingTaskGroup(of: Note.self) { … }
///     }
/// }
/// ```
/// Each seed is one interleaving, the same whenever it is run: a failure that comes once in a thousand runs is found by
/// a thousand seeds, and seen again by its own. Time moves only when no job is left, straight to the next deadline on
/// ``clock``, so an hour of backoff takes no time; and code that would hang is told from code that takes long:
/// ``SimulationError/stuck(seed:at:jobCount:)``.
///
/// The simulation runs the body, its task groups and `async let`s, nonisolated async functions, actors without an
/// executor of their own, and tasks started by ``task(_:)``. An unstructured `Task`, the main actor, and callbacks of
/// other threads are no part of it: they work, but in an order of their own.
///
/// What is made in the body and given no clock and no randomness has the simulation's, a service, a session, a breaker and a
/// transport alike. What a process shares by default, `OriginBudgets.shared` and `OriginLatencies.shared`, each simulation
/// has for itself.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class Simulation: Sendable {
    /// The seed that decides the order; 0 means first come, first served.
    public let seed: UInt64
    /// The simulation's time. Starts at zero.
    public let clock: ManualClock
    /// Randomness that the seed decides.
    public let random: SeededRandomSource

    let executor: SimulationExecutor
    let background = BackgroundWork()
    let maxJobs: Int
    let grace: Duration
    private let hasRun = Locked(false)

    /// Creates a simulation.
    ///
    /// - Parameters:
    ///   - seed: The seed of the order and the randomness; 0, the default, for first come, first served.
    ///   - maxJobs: After how many jobs it gives up. A job is a piece of work between two suspensions. Default: ten
    ///     million, some ten seconds' worth.
    ///   - grace: How long, in real time, other threads get to bring work before the simulation counts as stuck. Only
    ///     a simulation that is stuck waits for it. Default: 5 s, enough for a busy machine.
    public init(seed: UInt64 = 0, maxJobs: Int = 10_000_000, grace: Duration = .seconds(5)) {
        let executor = SimulationExecutor(seed: seed)
        self.seed = seed
        self.executor = executor
        self.clock = ManualClock(settle: { _ in await executor.settle() })
        self.random = SeededRandomSource(seed: seed)
        self.maxJobs = maxJobs
        self.grace = grace
    }

    /// Runs `body` to its end, once.
    ///
    /// Tasks of ``task(_:)`` that are still there then are cancelled, and may finish what they can without time
    /// passing.
    ///
    /// - Throws: The error of `body`; ``SimulationError``, after cancelling `body`, when it cannot end.
    public func run<Result: Sendable>(
        _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) async throws -> Result {
        let isFirst = hasRun.withLock { hasRun in
            defer { hasRun = true }
            return !hasRun
        }
        guard isFirst else { throw SimulationError.alreadyRun }
        let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
        // Made here and not on the thread, so that it has the caller's task-local values: the current test, above all.
        let root = Task(executorPreference: executor) {
            let result = await self.result(of: body)
            outcome.withLock { $0 = result }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A thread of its own, so that none of the pool is blocked: other work may be waiting for one.
                Thread.detachNewThread {
                    let result = self.work { outcome.withLock { $0 } }
                    self.finish(cancelling: root)
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            root.cancel()
        }
    }

    /// Starts a task in the simulation that need not be awaited: in place of an unstructured `Task`.
    ///
    /// It has the caller's task-local values but not its cancellation, and is cancelled when the simulation's body
    /// ends.
    @discardableResult
    public func task<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> {
        let id = background.begin()
        let task = Task(executorPreference: executor) { [background] in
            defer { background.end(id) }
            return try await operation()
        }
        background.keep(id) { task.cancel() }
        return task
    }

    /// Returns once nothing else can run before time moves on.
    ///
    /// Several callers come back one after the other, each when the others' work is done.
    public func settle() async {
        await executor.settle()
    }

    private func result<Result: Sendable>(
        of body: @escaping @Sendable (Simulation) async throws -> Result
    ) async -> Swift.Result<Result, any Error> {
        await SimulatedSystem.$current.withValue(SimulatedSystem(clock: clock, random: random)) {
            await SharedByOrigin.$current.withValue(SharedByOrigin(clock: clock)) {
                await BackgroundTask.$starter.withValue(.init { self.start($0) }) {
                    do {
                        return .success(try await body(self))
                    } catch {
                        return .failure(error)
                    }
                }
            }
        }
    }

    private func start(_ work: @escaping BackgroundTask.Work) -> Task<Void, Never> {
        let id = background.begin()
        let task = Task(executorPreference: executor) { [background] in
            await work()
            background.end(id)
        }
        background.keep(id) { task.cancel() }
        return task
    }
}

/// The loop of the simulation's thread.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Simulation {
    /// Runs jobs, and moves the clock when there are none, until there is an outcome.
    func work<Result>(until outcome: () -> Swift.Result<Result, any Error>?) -> Swift.Result<Result, any Error> {
        for count in 0..<maxJobs {
            if let outcome = outcome() { return outcome }
            if executor.runNext() { continue }
            // Tasks that asked to wait for this moment come before time.
            if executor.resumeSettled() { continue }
            if advanceClock() { continue }
            if waitForOthers(or: { outcome() != nil }) { continue }
            return .failure(SimulationError.stuck(seed: seed, at: clock.now.offset, jobCount: count))
        }
        return .failure(SimulationError.tooManyJobs(seed: seed, at: clock.now.offset, limit: maxJobs))
    }

    /// Cancels what is left and lets it finish, without time passing.
    func finish(cancelling root: Task<Void, Never>) {
        root.cancel()
        background.cancel()
        // Ample for thousands of tasks to end, and an end for those that do not heed cancellation.
        for _ in 0..<1_000_000 {
            guard executor.runNext() || executor.resumeSettled() else { return executor.end(abandoning: false) }
        }
        executor.end(abandoning: true)
    }

    /// Moves the clock to the next deadline; false without sleepers.
    private func advanceClock() -> Bool {
        guard let next = clock.nextDeadline else { return false }
        clock.advance(to: next)
        return true
    }

    /// Gives other threads the time to bring a job, a sleeper or the end; false when they bring nothing.
    private func waitForOthers(or isOver: () -> Bool) -> Bool {
        // In slices, since only a job ends the wait by itself.
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
    /// More jobs than the limit ran: something goes round in a circle.
    case tooManyJobs(seed: UInt64, at: Duration, limit: Int)
    /// A simulation runs once; make another one.
    case alreadyRun

    /// The failure, its time on the clock, and the seed with which to see it again.
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
