import NautilusTesting

/// The parts of a simulation for tests, without its availability: to annotate every test would be mere noise.
struct Simulated: Sendable {
    let clock: ManualClock
    let random: SeededRandomSource
    /// Starts a task that knows its starter's task-local values and not its cancellation, as `Task {}` does elsewhere.
    let start: @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void
}

/// The system is older than task executors.
struct SimulationUnavailable: Error {}

/// Runs `body` single-threaded in virtual time, in the interleaving of `seed`; see `Simulation`.
func simulate<Result: Sendable>(
    seed: UInt64 = 0,
    _ body: @escaping @Sendable (Simulated) async throws -> Result
) async throws -> Result {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { throw SimulationUnavailable() }
    return try await Simulation(seed: seed).run { simulation in
        try await body(
            Simulated(clock: simulation.clock, random: simulation.random) { work in simulation.task(work) }
        )
    }
}
