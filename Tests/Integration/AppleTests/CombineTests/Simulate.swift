import NautilusTesting

/// The system is older than task executors.
struct SimulationUnavailable: Error {}

/// Runs `body` single-threaded in virtual time, in the interleaving of `seed`.
func simulate(
    seed: UInt64 = 0,
    _ body: @escaping @Sendable (_ clock: ManualClock, _ random: SeededRandomSource) async throws -> Void
) async throws {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { throw SimulationUnavailable() }
    try await Simulation(seed: seed).run { try await body($0.clock, $0.random) }
}
