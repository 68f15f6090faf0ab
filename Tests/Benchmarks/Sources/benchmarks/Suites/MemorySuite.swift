import BenchmarkServer
import Nautilus

/// Memory after many calls: a finished call must leave nothing behind that piles up.
enum MemorySuite {
    static func all(_ server: ServerProcess) -> [any Measurable] {
        let request = GetBytes(timeout: .seconds(60))
        let service = LoopbackSuite.defaults(server.port)
        return [
            ResidentSize(
                calls: Subject("calls with a timeout of 60 s") {
                    _ = try await request.schedule(with: NotesService.instant)
                }.atOnce(8),
                count: { $0.isQuick ? 10_000 : 100_000 }
            ),
            ResidentSize(
                calls: Subject("calls to a server, 64 at once") { _ = try await request.schedule(with: service) }
                    .atOnce(64),
                count: { _ in 10_000 }
            ),
        ]
    }
}

/// The resident size after many calls against the size after the first thousand of them.
private struct ResidentSize: Measurable {
    let calls: Subject
    let count: @Sendable (Effort) -> Int
    let group = "Resident memory"
    var name: String { "after \(calls.name)" }

    func lines(_ effort: Effort) async throws -> [Line] {
        // Once before, for what is made once: pages of the runtime, arenas of the allocator.
        try await calls.run(1_000)
        let before = ProcessUsage.residentSize
        let count = count(effort)
        try await calls.run(count)
        let after = ProcessUsage.residentSize
        return [
            Line(
                group: group,
                name: "\(count) \(calls.name)",
                value: after.map(Double.init),
                unit: "bytes",
                baselineValue: before.map(Double.init),
                baseline: "before them",
                ratio: before.flatMap { before in after.map { Double($0) / Double(before) } },
                ratioQuartiles: nil
            )
        ]
    }
}
