import Nautilus
import NautilusHTTP
import NautilusTesting
import Testing

/// A shared thing, and the requests that come to it in one interleaving of many.
package protocol VisitedWorld: Sendable {
    var visits: [Visit] { get }
    /// Makes one of the visits.
    func make(_ visit: Visit) async
    /// Passes what time a step takes. Default: none.
    func passTime()
    /// Makes all visits, and cancels those that are to be.
    func run() async
    /// What is wrong, once all visits have ended.
    func findings() -> [String]
}

/// A request that comes to a shared thing.
package struct Visit: Sendable {
    /// How often it gives way to others before it comes.
    package let start: Int
    /// How often the server gives way while it works on it.
    package let duration: Int
    package let isCancelled: Bool

    /// A random one.
    ///
    /// - Parameters:
    ///   - starts: How many starts there are, and how many others to one that is cancelled.
    ///   - durations: How many durations there are.
    ///   - cancels: Whether it may be cancelled.
    package init(_ generator: inout SeededGenerator, starts: UInt64, durations: UInt64 = 3, cancels: Bool = true) {
        let draw = generator.next()
        start = Int(draw % starts)
        duration = Int(draw >> 8 % durations)
        isCancelled = cancels && draw >> 16 % starts == 0
    }

    /// Gives way before it comes.
    package func begin() async {
        for _ in 0..<start { await Task.yield() }
    }

    /// Gives way while the server works on it.
    ///
    /// - Throws: `CancellationError`.
    package func work() async throws {
        for _ in 0..<duration {
            await Task.yield()
            try Task.checkCancellation()
        }
    }
}

extension VisitedWorld {
    package func passTime() {}

    package func run() async {
        let tasks = visits.map { visit in BackgroundTask.start { await make(visit) } }
        for (visit, task) in zip(visits, tasks) {
            await Task.yield()
            passTime()
            if visit.isCancelled { task.cancel() }
        }
        for task in tasks { await task.value }
    }
}

/// Runs many small worlds, each in an interleaving of its own, and fails for the first findings of any.
///
/// A simulation costs a thread, so a hundred worlds share one: their jobs are mixed by its seed, too.
///
/// - Parameter usual: How many; see `trials(_:)`.
package func inWorlds(
    _ usual: Int,
    _ make: @escaping @Sendable (inout SeededGenerator) -> any VisitedWorld
) async throws {
    let batch = 100
    try await forEachSeed(usual / batch) { seed in
        let findings = try await simulate(seed: seed) { _ in
            await withTaskGroup(of: [String].self) { worlds in
                for index in 0..<UInt64(batch) {
                    worlds.addTask {
                        var generator = SeededGenerator(seed: seed &* 1_000 &+ index)
                        let world = make(&generator)
                        await world.run()
                        return world.findings()
                    }
                }
                return await worlds.reduce(into: []) { $0 += $1 }
            }
        }
        // One finding is enough to look into; a hundred would bury it.
        try #require(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
    }
}
