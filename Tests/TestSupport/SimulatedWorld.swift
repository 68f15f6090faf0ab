import Foundation
import Nautilus
import NautilusTesting

/// The parts of a simulation for tests, without its availability: to annotate every test would be mere noise.
package struct Simulated: Sendable {
    package let clock: ManualClock
    package let random: SeededRandomSource
    /// Starts a task that knows its starter's task-local values and not its cancellation, as `Task {}` does elsewhere.
    package let start: @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void
    /// Has a closure run before each job from now on, with its number from 0; see `Simulation.beforeJob`.
    package let beforeJobs: @Sendable (_ work: @escaping @Sendable (_ number: Int) -> Void) -> Void
}

/// Runs `body` single-threaded in virtual time, in the interleaving of `seed`; see `Simulation`.
package func simulate<Result: Sendable>(
    seed: UInt64 = 0,
    _ body: @escaping @Sendable (Simulated) async throws -> Result
) async throws -> Result {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { throw SimulationUnavailable() }
    return try await Simulation(seed: seed).run { simulation in
        try await body(
            Simulated(
                clock: simulation.clock,
                random: simulation.random,
                start: { work in simulation.task(work) },
                beforeJobs: { work in simulation.beforeJob = work }
            )
        )
    }
}

/// Runs `body` in a system whose random generator always draws the same fraction.
package func drawing<Result>(
    _ fraction: Double,
    on clock: ManualClock,
    _ body: () async throws -> Result
) async rethrows -> Result {
    let real: BackgroundTask.Starter = { work in Task { await work() } }
    let start = SimulatedSystem.current?.start ?? real
    let system = SimulatedSystem(clock: clock, random: FixedRandomSource(fraction), start: start)
    return try await SimulatedProcess.$current.withValue(SimulatedProcess(on: system), operation: body)
}

/// Runs a scenario once undisturbed, and once for each of its jobs with a change before that job: at every point at which
/// anything in it suspends.
///
/// - Parameters:
///   - scenario: What is tried. It passes what to change to `arm` once its preparations are done.
///   - check: Looks at the outcome of each run; `step` is nil for the undisturbed one.
package func beforeEachJob<Outcome: Sendable>(
    of scenario:
        @escaping @Sendable (
            _ simulation: Simulated,
            _ arm: @escaping @Sendable (_ change: @escaping @Sendable () -> Void) -> Void
        ) async throws -> Outcome,
    check: (_ outcome: Outcome, _ step: Int?) throws -> Void
) async throws {
    try check(try await simulate { try await scenario($0) { _ in } }, nil)
    for step in 0... {
        let wasReached = Locked(false)
        let outcome = try await simulate { simulation in
            try await scenario(simulation) { change in
                simulation.beforeJobs { number in
                    guard number == step else { return }
                    wasReached.withLock { $0 = true }
                    change()
                }
            }
        }
        guard wasReached.withLock({ $0 }) else { return }
        try check(outcome, step)
    }
}

/// The system is older than task executors.
private struct SimulationUnavailable: Error {}

/// A server, the clients that talk to it, and what they share, in the virtual time of one simulation.
///
/// Every world of the tests is made of a simulation and of what its test varies, makes its services itself, and has calls
/// as their outcomes.
package protocol SimulatedWorld: Sendable {
    var clock: ManualClock { get }
    init(_ simulation: Simulated)
}

extension SimulatedWorld {
    /// Runs `body` in a world of its own, in the interleaving of `seed`.
    package static func run<Result: Sendable>(
        seed: UInt64 = 0,
        _ body: @escaping @Sendable (Self) async throws -> Result
    ) async throws -> Result {
        try await simulate(seed: seed) { try await body(Self($0)) }
    }

    /// The wall clock of a machine that has it right.
    package var date: Date { Date(timeIntervalSince1970: 1_800_000_000 + clock.now.offset / .seconds(1)) }

    package func sleep(_ duration: Duration) async throws { try await clock.sleep(for: duration) }
}
