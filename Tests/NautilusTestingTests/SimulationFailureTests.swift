import Nautilus
import NautilusTesting
import Testing

extension TestKit {
    @Suite("Simulation, failures")
    struct SimulationFailureTests {
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("code that waits for ever is told so, with the time and the seed, and is cancelled")
        func stuck() async {
            let wasCancelled = Locked(false)
            await #expect(throws: SimulationError.stuck(seed: 4, at: .seconds(2), jobCount: 3)) {
                try await Simulation(seed: 4, grace: .zero).run { simulation in
                    try await simulation.clock.sleep(for: .seconds(2))
                    for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
                    wasCancelled.withLock { $0 = Task.isCancelled }
                }
            }
            #expect(wasCancelled.withLock { $0 })
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("code that waits for ever and ignores cancellation is left behind")
        func stuckForGood() async {
            let error = await #expect(throws: SimulationError.self) {
                try await Simulation(grace: .zero).run { _ in
                    // Unsafe, since a checked continuation would complain about what this test does on purpose.
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
            #expect(error == .stuck(seed: 0, at: .zero, jobCount: 1))
            #expect(error?.description.hasPrefix("Stuck at 0 ms (seed 0, jobs run: 1): nothing can run") == true)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("code that goes round in a circle ends at the limit")
        func circle() async {
            await #expect(throws: SimulationError.tooManyJobs(seed: 0, at: .zero, limit: 1000)) {
                try await Simulation(maxJobs: 1000).run { _ in
                    while !Task.isCancelled { await Task.yield() }
                }
            }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("code that goes round in a circle of sleeps ends at the limit, too")
        func circleOfSleeps() async {
            let error = await #expect(throws: SimulationError.self) {
                try await Simulation(maxJobs: 1000).run { simulation in
                    while true { try await simulation.clock.sleep(for: .seconds(1)) }
                }
            }
            guard case .tooManyJobs(seed: 0, at: _, limit: 1000)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("cancelling the caller cancels the body")
        func cancellation() async {
            let caller = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await Simulation().run { try await $0.clock.sleep(for: .seconds(60)) }
            }
            await #expect(throws: CancellationError.self) { try await caller.value }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a simulation runs once")
        func once() async throws {
            let simulation = Simulation()
            #expect(try await simulation.run { _ in 7 } == 7)
            await #expect(throws: SimulationError.alreadyRun) { try await simulation.run { _ in 7 } }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a task that is started after the end still runs")
        func afterTheEnd() async throws {
            let simulation = Simulation()
            try await simulation.run { _ in }
            await simulation.settle()
            #expect(try await simulation.task { 7 }.value == 7)
        }
    }
}
