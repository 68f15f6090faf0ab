import NautilusTesting

/// A thousand calls through one design, in virtual time.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct Storm: Sendable {
    /// A call that has not been answered by then never will be.
    private static let patience = Duration.seconds(600)

    let scenario: Scenario
    let seed: UInt64

    /// Runs it, and counts.
    func run<Layer: TokenLayer>(_ design: Layer.Type) async throws -> Row {
        try await Simulation(seed: seed).run { simulation in
            let latencies = Latencies(seed: seed)
            let server = Server(scenario.rules, latencies: latencies, clock: simulation.clock)
            let world = World(
                server: server,
                host: "\(scenario.name).example.com",
                clock: simulation.clock,
                random: simulation.random,
                spawn: { work in simulation.task { await work() } },
                task: { work in simulation.task(work) }
            )
            let layer = Layer(world)
            let ledger = Ledger()
            // One task begins them all: in the order of their times, whatever the seed makes of tasks.
            for (call, start) in calls(latencies) {
                try await simulation.clock.sleep(until: .init(start))
                layer.get(call) { ledger.enter($0, at: simulation.clock.now.offset) }
            }
            try await waitForEnd(of: ledger, server, simulation.clock)
            return Row(scenario.name, design.name, ledger.entries, await server.counts)
        }
    }

    private func calls(_ latencies: Latencies) -> [(call: Int, start: Duration)] {
        (0..<Scenario.callCount)
            .map { (call: $0, start: latencies.start(of: $0, within: scenario.span)) }
            .sorted { $0.start < $1.start }
    }

    private func waitForEnd(of ledger: Ledger, _ server: Server, _ clock: ManualClock) async throws {
        while ledger.entries.ended < Scenario.callCount, clock.now.offset < Self.patience {
            if await server.counts.isCutOff { break }
            try await clock.sleep(for: .seconds(1))
        }
    }
}
