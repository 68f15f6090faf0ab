import Foundation

/// How many random inputs, interleavings or seeds a test tries: `usual`, which take an unoptimised build a second or
/// two, times what `NAUTILUS_EFFORT` says.
///
/// Default: a tenth, so that `swift test` stays quick. Each night, it is a hundred, in an optimised build; see `.ci/run`.
package func trials(_ usual: Int) -> Int {
    max(1, Int(Double(usual) * effort))
}

/// Runs a storm of its own for each of so many seeds, from 1 on; see ``trials(_:)``.
package func forEachSeed(
    _ usual: Int,
    _ storm: @escaping @Sendable (_ seed: UInt64) async throws -> Void
) async throws {
    // Two at a time: each simulation keeps one core busy.
    try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in 1...UInt64(trials(usual)) {
            if seed > 2 { try await group.next() }
            group.addTask { try await storm(seed) }
        }
        try await group.waitForAll()
    }
}

private let effort = ProcessInfo.processInfo.environment["NAUTILUS_EFFORT"].flatMap(Double.init) ?? 0.1
