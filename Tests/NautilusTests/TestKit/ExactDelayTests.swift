import Nautilus
import NautilusTesting
import Testing

extension TestKit {
    @Suite("Exact delays", .endsInTime)
    struct ExactDelayTests {
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a trace has the delays before its retries, and no time limit among them")
        func delays() async throws {
            try await Simulation(seed: 1).run { simulation in
                let service = AnyHttpService(
                    apiUrl: "api.example.com/v1",
                    retrierFactory: BackoffRetrier.factory(
                        .standard.with {
                            $0.backoff = .exponential(base: .seconds(1))
                            $0.budget = .unlimited
                            $0.random = FixedRandomSource(1)
                        }
                    ),
                    transport: ScriptedTransport(.status(503), .status(503), .status(204)),
                    clock: simulation.clock
                )
                let response = try await AnyRequest(.get, ["notes"]).response(with: service)
                #expect(response.trace.delays == [.seconds(1), .seconds(2)])
                #expect(simulation.clock.sleeps.count == 5)
            }
        }
    }
}
