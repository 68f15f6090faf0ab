import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

/// Runs many small worlds, each in an interleaving of its own, and fails for the first findings of any.
///
/// A simulation costs a thread, so a hundred worlds share one: their jobs are mixed by its seed, too.
///
/// - Parameter usual: How many; see `trials(_:)`.
func inWorlds(
    _ usual: Int,
    _ run: @escaping @Sendable (inout SeededGenerator) async -> [String]
) async throws {
    let batch = 100
    try await forEachSeed(usual / batch) { seed in
        let findings = try await simulate(seed: seed) { _ in
            await withTaskGroup(of: [String].self) { worlds in
                for index in 0..<UInt64(batch) {
                    worlds.addTask {
                        var generator = SeededGenerator(seed: seed &* 1_000 &+ index)
                        return await run(&generator)
                    }
                }
                return await worlds.reduce(into: []) { $0 += $1 }
            }
        }
        // One finding is enough to look into; a hundred would bury it.
        try #require(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
    }
}
