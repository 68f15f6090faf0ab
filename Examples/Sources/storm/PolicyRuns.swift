import NautilusFleets

/// The same fleet with each policy, all at once, each in a thread of its own.
@available(macOS 15, *)
struct PolicyRuns: Sendable {
    let fleet: FleetSimulation
    let isQuiet: Bool

    /// The reports, in the order of the policies.
    func reports() async throws -> [FleetReport] {
        let (seconds, continuation) = AsyncStream.makeStream(of: PolicySecond.self)
        async let drawing: Void = draw(seconds)
        let reports = try await withThrowingTaskGroup(of: FleetReport.self) { group in
            // However it ends, the drawing ends, too.
            defer { continuation.finish() }
            for policy in Policy.allCases {
                group.addTask { try await report(on: policy) { continuation.yield($0) } }
            }
            return try await group.reduce(into: [String: FleetReport]()) { $0[$1.policy] = $1 }
        }
        await drawing
        return Policy.allCases.compactMap { reports[$0.rawValue] }
    }

    private func report(
        on policy: Policy,
        onSecond: @escaping @Sendable (PolicySecond) -> Void
    ) async throws -> FleetReport {
        try await fleet.run(policy.rawValue, onSecond: { onSecond(PolicySecond(policy: policy, second: $0)) }) {
            client in
            NotesService(client, retrierFactory: policy.retrierFactory(for: client))
        } request: { call in
            GetNote(id: call.number)
        }
    }

    private func draw(_ seconds: AsyncStream<PolicySecond>) async {
        var progress = ProgressLines(duration: fleet.load.duration, isQuiet: isQuiet)
        progress.begin()
        for await second in seconds { progress.show(second) }
        progress.clear()
    }
}

/// A second of one policy's run that is over.
struct PolicySecond: Sendable {
    let policy: Policy
    let second: FleetSecond
}
