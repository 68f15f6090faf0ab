import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

extension TestKit {
    @Suite("Simulation: default clock and randomness")
    struct SimulationDefaultsTests {
        @Test("a service, its retries and its authorization")
        func service() async throws {
            let (first, again, other) = (
                try await Self.course(seed: 1), try await Self.course(seed: 1), try await Self.course(seed: 2)
            )
            #expect(first == again)
            #expect(first.delays != other.delays)
            // After an hour.
            #expect(first.refreshes == 1)
            #expect(first.end == first.delays.reduce(.seconds(3600), +))
        }

        private struct Course: Equatable {
            var delays: [Duration] = []
            var refreshes = 0
            var end = Duration.zero
        }

        private static func course(seed: UInt64) async throws -> Course {
            try await simulate(seed: seed) { simulation in
                let count = Counter()
                let coordinator = RefreshCoordinator(credential: "token", lifetime: { _ in .seconds(1800) }) { _ in
                    "token \(count.increment())"
                }
                let service = AnyHttpService(
                    apiUrl: "api.test",
                    retrierFactory: .composed(
                        coordinator.authorization { token, request in request.header[.authorization] = token },
                        BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
                    ),
                    transport: ScriptedTransport(.status(503), .status(503), .reply(text: "ok"), afterLast: .repeat)
                )
                var course = Course()
                course.delays = try await Ping.get.response(with: service).trace.delays
                try await simulation.clock.sleep(for: .seconds(3600))
                _ = try await Ping.get.schedule(with: service)
                course.refreshes = count.value
                course.end = simulation.clock.now.offset
                return course
            }
        }

        @Test("a transport's delays, a limit and the date")
        func others() async throws {
            try await simulate { simulation async throws in
                let service = AnyHttpService(
                    apiUrl: "api.test",
                    interceptors: [Pacing()],
                    transport: ScriptedTransport(.delay(.seconds(2), then: .reply(text: "ok")))
                )
                let date = DefaultClock.date
                #expect(try await Ping.get.schedule(with: service) == "ok")
                #expect(simulation.clock.now.offset == .seconds(2))
                #expect(DefaultClock.date.timeIntervalSince(date) == 2)
            }
        }

        /// Work that the closure starts elsewhere would come in an order of its own, or never on a busy machine.
        @Test("objects that the closure before a job makes use the simulation's clock and randomness")
        func beforeJob() async throws {
            try await simulate { simulation in
                let clock = simulation.clock
                let answer = Locked<String?>(nil)
                simulation.beforeJobs { number in
                    guard number == 0 else { return }
                    #expect(SimulatedSystem.current?.clock is ManualClock)
                    let service = AnyHttpService(
                        apiUrl: "api.test",
                        transport: ScriptedTransport(.delay(.seconds(2), then: .reply(text: "ok")))
                    )
                    BackgroundTask.start {
                        let text = try? await Ping.get.schedule(with: service)
                        answer.withLock { $0 = text }
                    }
                }
                // The closure runs before the job that ends the first sleep.
                for _ in 0..<2 { try await clock.sleep(for: .seconds(3)) }
                #expect(answer.withLock { $0 } == "ok")
            }
        }
    }
}
