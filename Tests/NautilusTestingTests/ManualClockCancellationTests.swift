import NautilusTesting
import TestSupport
import Testing

extension TestKit {
    @Suite("ManualClock, cancellation and races", .endsInTime)
    struct ManualClockCancellationTests {
        let clock = ManualClock()

        @Test("cancelling a sleeper wakes it at once")
        func whileAsleep() async throws {
            let nap = Task { [clock] in try await clock.sleep(for: .seconds(60)) }
            try await clock.waitForSleepers(count: 1)
            nap.cancel()
            await #expect(throws: CancellationError.self) { try await nap.value }
            #expect(clock.sleeperCount == 0)
            #expect(clock.nextDeadline == nil)
            #expect(clock.now.offset == .zero)
        }

        @Test("a task that was cancelled before does not fall asleep, whatever the deadline", arguments: [-1, 0, 60])
        func before(seconds: Int) async throws {
            let nap = Task { [clock] in
                withUnsafeCurrentTask { $0?.cancel() }
                try await clock.sleep(for: .seconds(seconds))
            }
            await #expect(throws: CancellationError.self) { try await nap.value }
            #expect(clock.sleeps == [.seconds(seconds)])
            #expect(clock.sleeperCount == 0)
        }

        @Test("cancelling one sleeper leaves the others asleep")
        func others() async throws {
            let naps = (1...100).map { seconds in Task { [clock] in try await clock.sleep(for: .seconds(seconds)) } }
            try await clock.waitForSleepers(count: 100)
            for nap in naps.prefix(99) { nap.cancel() }
            for nap in naps.prefix(99) { await #expect(throws: CancellationError.self) { try await nap.value } }
            #expect(clock.sleeperCount == 1)
            #expect(clock.nextDeadline?.offset == .seconds(100))
            clock.advance(by: .seconds(100))
            try await naps[99].value
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("waiting for sleepers can be cancelled, before and while it waits")
        func waitingForSleepers() async throws {
            let before = Task { [clock] in
                withUnsafeCurrentTask { $0?.cancel() }
                try await clock.waitForSleepers(count: 1)
            }
            await #expect(throws: CancellationError.self) { try await before.value }
            let outcome = try await Simulation().run { simulation in
                let waiting = simulation.task { try await simulation.clock.waitForSleepers(count: 1) }
                await simulation.settle()
                waiting.cancel()
                return await waiting.result
            }
            #expect(throws: CancellationError.self) { try outcome.get() }
        }

        @Test("tasks that advance at once move the clock by the sum")
        func concurrentAdvance() async {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<1000 { clock.advance(by: .nanoseconds(1)) } }
                }
            }
            #expect(clock.now.offset == .nanoseconds(8000))
        }

        @Test("thousands of sleepers end once each, while clock and cancellation race for them", arguments: 1...3)
        func race(round: UInt64) async {
            let count = 3000
            let random = SeededRandomSource(seed: round)
            let naps = (0..<count).map { _ in
                let length = Duration.milliseconds(Int(random.nextFraction() * 100))
                return Task { [clock] in try await clock.sleep(for: length) }
            }
            let ended = await withTaskGroup(of: Int.self) { group in
                group.addTask {
                    for index in stride(from: 0, to: count, by: 2) { naps[index].cancel() }
                    return 0
                }
                for _ in 0..<2 {
                    group.addTask {
                        while clock.sleeps.count < count || clock.sleeperCount > 0 {
                            clock.advance(by: .milliseconds(1))
                            await Task.yield()
                        }
                        return 0
                    }
                }
                group.addTask {
                    var ended = 0
                    for nap in naps {
                        _ = await nap.result
                        ended += 1
                    }
                    return ended
                }
                return await group.reduce(0, +)
            }
            #expect(ended == count)
            #expect(clock.sleeps.count == count)
            #expect(clock.sleeperCount == 0)
            #expect(clock.nextDeadline == nil)
        }
    }
}
