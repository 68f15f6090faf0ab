import Nautilus
import NautilusTesting
import TestSupport
import Testing

extension TestKit {
    @Suite("ManualClock", .endsInTime)
    struct ManualClockTests {
        let clock = ManualClock()

        @Test("a ManualClock starts at zero, with nobody asleep")
        func startsAtZero() {
            #expect(clock.now.offset == .zero)
            #expect(clock.sleeps.isEmpty)
            #expect(clock.sleeperCount == 0)
            #expect(clock.nextDeadline == nil)
        }

        @Test("a sleeper wakes when the clock reaches its deadline, not a nanosecond before")
        func wakesAtDeadline() async throws {
            async let nap: Void = clock.sleep(for: .seconds(60))
            try await clock.waitForSleepers(count: 1)
            #expect(clock.nextDeadline?.offset == .seconds(60))
            clock.advance(by: .nanoseconds(59_999_999_999))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .nanoseconds(1))
            try #require(clock.sleeperCount == 0)
            try await nap
            #expect(clock.now.offset == .seconds(60))
        }

        @Test("after a suspension all who were due wake at once, at its end, and the others sleep on")
        func suspension() async throws {
            let clock = ManualClock()
            let woken = Locked<[Duration]>([])
            async let naps: Void = withTaskGroup(of: Void.self) { group in
                for seconds in [10, 20, 30, 40] {
                    group.addTask {
                        try? await clock.sleep(for: .seconds(seconds))
                        let now = clock.now.offset
                        woken.withLock { $0.append(now) }
                    }
                }
            }
            try await clock.waitForSleepers(count: 4)
            clock.suspend(for: .seconds(-1))
            #expect(clock.now.offset == .zero)
            clock.suspend(for: .seconds(30))
            #expect(clock.now.offset == .seconds(30))
            try #require(clock.sleeperCount == 1)
            while woken.withLock({ $0.count }) < 3 { await Task.yield() }
            clock.advance(by: .seconds(10))
            try #require(clock.sleeperCount == 0)
            await naps
            #expect(woken.withLock { $0 } == [.seconds(30), .seconds(30), .seconds(30), .seconds(40)])
        }

        @Test("a ManualClock works as an erased clock")
        func anyClock() async throws {
            let any: any Clock<Duration> = clock
            async let nap: Void = any.sleep(for: .seconds(2))
            try await clock.waitForSleepers(count: 1)
            clock.advance(to: ManualClock.Instant(.seconds(2)))
            try await nap
            #expect(clock.sleeps == [.seconds(2)])
        }

        @Test("a deadline that has passed does not suspend, and is recorded as what it was")
        func pastDeadline() async throws {
            clock.advance(by: .seconds(5))
            try await clock.sleep(until: ManualClock.Instant(.seconds(3)))
            try await clock.sleep(for: .zero)
            #expect(clock.sleeps == [.seconds(-2), .zero])
            #expect(clock.now.offset == .seconds(5))
        }

        @Test("sleeps are recorded in order, counted from when each was asked for")
        func recordedSleeps() async throws {
            for seconds in [3, 1, 2] {
                async let nap: Void = clock.sleep(for: .seconds(seconds))
                try await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(10))
                try await nap
            }
            #expect(clock.sleeps == [.seconds(3), .seconds(1), .seconds(2)])
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("sleepers wake in the order of their deadlines, and those of one deadline in the order of asking")
        func order() async throws {
            let woken = try await Simulation().run { [clock] simulation in
                let log = Log()
                for (name, seconds) in [("c", 3), ("a", 1), ("b", 2), ("b again", 2)] {
                    simulation.task {
                        try await clock.sleep(for: .seconds(seconds))
                        await log.add(name)
                    }
                    await simulation.settle()
                }
                clock.advance(by: .seconds(10))
                await simulation.settle()
                return await log.entries
            }
            #expect(woken == ["a", "b", "b again", "c"])
        }

        @Test("the clock does not pass what it was told to reach, and never goes back")
        func bounds() {
            clock.advance(to: ManualClock.Instant(.seconds(3)))
            clock.advance(to: ManualClock.Instant(.seconds(1)))
            clock.advance(by: .seconds(-1))
            #expect(clock.now.offset == .seconds(3))
            clock.advance(by: .seconds(2))
            #expect(clock.now.offset == .seconds(5))
        }

        @Test("instants saturate where an addition would overflow")
        func saturation() async throws {
            let huge = Duration.seconds(Int64.max) * 10
            clock.advance(by: huge)
            clock.advance(by: huge)
            #expect(clock.now.offset == .seconds(Int64.max))
            try await clock.sleep(for: huge)
            #expect(ManualClock.Instant(huge * -1).advanced(by: huge * -1).offset == .seconds(-Int64.max))
        }

        @Test("outside of a simulation it runs until nobody sleeps")
        func runs() async throws {
            let work = Task { [clock] in
                for seconds in 1...5 { try await clock.sleep(for: .seconds(seconds)) }
            }
            // Again and again, since how soon another task gets to run is not for a test to say.
            while clock.sleeps.count < 5 || clock.sleeperCount > 0 { await clock.run() }
            try await work.value
            #expect(clock.sleeps == (1...5).map { .seconds($0) })
            #expect(clock.now.offset == .seconds(15))
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("in a simulation, a ManualClock runs exactly until nobody sleeps")
        func runsInSimulation() async throws {
            let sleeps = try await Simulation(seed: 3).run { simulation in
                let nap = simulation.task {
                    for seconds in 1...5 { try await simulation.clock.sleep(for: .seconds(seconds)) }
                }
                await simulation.clock.run()
                #expect(simulation.clock.now.offset == .seconds(15))
                try await nap.value
                return simulation.clock.sleeps
            }
            #expect(sleeps == (1...5).map { .seconds($0) })
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a run of limited length stops there, between two wakings of a task that sleeps for ever")
        func runsForDuration() async throws {
            let (now, sleepCount) = try await Simulation().run { simulation in
                simulation.task { while true { try await simulation.clock.sleep(for: .seconds(2)) } }
                await simulation.clock.run(for: .seconds(7))
                return (simulation.clock.now.offset, simulation.clock.sleeps.count)
            }
            #expect(now == .seconds(7))
            #expect(sleepCount == 4)
        }
    }
}

/// Words in the order in which they came.
actor Log {
    private(set) var entries: [String] = []

    func add(_ entry: String) {
        entries.append(entry)
    }
}
