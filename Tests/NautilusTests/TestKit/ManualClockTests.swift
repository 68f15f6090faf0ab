import NautilusTesting
import Testing

@Suite("ManualClock")
struct ManualClockTests {
    let clock = ManualClock()

    @Test("it starts at zero and stands still")
    func startsAtZero() {
        #expect(clock.now == ManualClock.Instant(.zero))
        #expect(clock.now == clock.now)
        #expect(clock.sleeps.isEmpty)
        #expect(clock.nextDeadline == nil)
    }

    @Test("a sleeper wakes when the clock reaches its deadline, not before")
    func wakesAtDeadline() async throws {
        async let nap: Void = clock.sleep(for: .seconds(60))
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .nanoseconds(59_999_999_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.sleeperCount == 0)
        try await nap
        #expect(clock.sleeps == [.seconds(60)])
    }

    @Test("cancelling a sleeper wakes it at once, in virtual time zero")
    func cancellation() async throws {
        let nap = Task { [clock] in try await clock.sleep(for: .seconds(60)) }
        try await clock.waitForSleepers(count: 1)
        nap.cancel()
        await #expect(throws: CancellationError.self) { try await nap.value }
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .zero)
    }
}
