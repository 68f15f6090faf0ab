import Nautilus

/// Memory after many calls with a timeout: what a finished call leaves behind must not pile up.
enum MemorySuite {
    static let all: [any Measurable] = [ResidentSize(name: "after calls with a timeout of 60 s", timeout: .seconds(60))]
}

/// The resident size after many calls against the size before them.
private struct ResidentSize: Measurable {
    let group = "Resident memory"
    let name: String
    let timeout: Duration?

    func lines(_ effort: Effort) async throws -> [Line] {
        let request = GetBytes(timeout: timeout)
        let calls = Subject(name) { _ = try await request.schedule(with: NotesService.instant) }.atOnce(8)
        // Once before, for what is made once: pages of the runtime, arenas of the allocator.
        try await calls.run(1_000)
        let before = ProcessUsage.residentSize
        try await calls.run(effort.callCount)
        let after = ProcessUsage.residentSize
        return [
            Line(
                group: group,
                name: "\(effort.callCount) \(name)",
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

extension Effort {
    fileprivate var callCount: Int { rounds < Self.full.rounds ? 10_000 : 100_000 }
}
