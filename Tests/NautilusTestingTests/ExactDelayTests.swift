import Nautilus
import NautilusTesting
import TestSupport
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
                #expect(simulation.clock.sleeps == [.seconds(1), .seconds(2)])
            }
        }

        @Test("a time limit is no sleeper, and passes when its time has come")
        func timeLimits() async throws {
            let clock = ManualClock()
            let service = AnyHttpService(
                apiUrl: "api.example.com/v1",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.maxAttempts = 2
                        $0.budget = .unlimited
                        $0.random = FixedRandomSource(1)
                    }
                ),
                transport: ScriptedTransport(.status(503), .hang),
                clock: clock
            )
            async let call = failure(of: AnyRequest(.get, ["notes"]), with: service)
            // The delay before the second attempt, whose time limit begins with it.
            try await clock.waitForSleepers(count: 1)
            #expect(clock.alarmCount == 0)
            let delays = clock.sleeps
            clock.advance(by: delays[0])
            try await clock.waitForAlarms(count: 1)
            #expect((clock.sleeperCount, clock.alarmCount) == (0, 1))
            clock.advance(by: .nanoseconds(59_999_999_999))
            #expect(clock.alarmCount == 1)
            clock.advance(by: .nanoseconds(1))
            #expect(await call?.kind == .timeout(.seconds(60)))
            #expect(clock.alarmCount == 0)
            #expect(clock.sleeps == delays)
        }

        private func failure(
            of request: AnyRequest<Void>,
            with service: AnyHttpService<HttpError>
        ) async -> HttpError? {
            do throws(HttpError) {
                try await request.schedule(with: service)
                return nil
            } catch {
                return error
            }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("the time limit of a refresh is not among the clock's sleeps")
        func refresh() async throws {
            try await Simulation(seed: 1).run { simulation in
                let clock = simulation.clock
                let limits = RefreshLimits(timeLimit: .seconds(30), maxCoolDowns: 0)
                let coordinator = RefreshCoordinator(credential: "old", limits: limits, clock: clock) { _ in
                    try await clock.sleep(for: .seconds(300))
                    return "new"
                }
                let credential = try await coordinator.credential()
                await #expect(throws: RefreshError.self) { try await coordinator.refresh(rejecting: credential) }
                #expect(clock.now.offset == .seconds(30))
                #expect(clock.sleeps == [.seconds(300)])
            }
        }
    }
}
