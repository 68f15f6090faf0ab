import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

/// Runs many small worlds, each in an interleaving of its own, and fails for the first findings of any.
///
/// A simulation costs a thread, so a hundred worlds share one: their jobs are mixed by its seed, too. `NAUTILUS_WORLDS`
/// asks for another number than a test's own: fewer where each costs more, as under the thread sanitizer.
func inWorlds(
    _ count: Int,
    _ run: @escaping @Sendable (inout SeededGenerator) async -> [String]
) async throws {
    let count = ProcessInfo.processInfo.environment["NAUTILUS_WORLDS"].flatMap { Int($0) } ?? count
    let batch = 100
    // Two at a time: each simulation keeps one core busy.
    try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in 1...UInt64(count / batch) {
            if seed > 2 { try await group.next() }
            group.addTask {
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
        try await group.waitForAll()
    }
}
