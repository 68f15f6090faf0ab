import Nautilus
import NautilusTesting
import Testing

@Suite("Simulation")
struct SimulationTests {
    @Test("an hour of sleep takes no time")
    func sleeps() async throws {
        let now = try await Simulation().run { simulation in
            try await simulation.clock.sleep(for: .seconds(3600))
            return simulation.clock.now.offset
        }
        #expect(now == .seconds(3600))
    }

    @Test("code that waits for ever is told so")
    func stuck() async throws {
        await #expect(throws: SimulationError.stuck(seed: 0, at: .zero, jobCount: 1)) {
            try await Simulation(grace: .zero).run { _ in
                for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            }
        }
    }
}
