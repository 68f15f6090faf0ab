import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A time limit")
struct TimeLimitTests {
    let base = ManualClock()
    let clock: SharedSleepClock<ManualClock>

    init() {
        clock = SharedSleepClock(base)
    }

    @Test("work that ends in time leaves no sleeper behind, and a thousand of it one sleep")
    func inTime() async {
        for number in 1...1_000 {
            let (value, limitPassed) = await TimeLimit(.seconds(60), on: clock).cancelling { number }
            #expect(value == number)
            #expect(!limitPassed)
        }
        #expect(clock.sleeperCount == 0)
        #expect(base.sleeps.count <= 1)
    }

    @Test("work that takes longer is cancelled exactly at the limit, and its value is kept")
    func limitPasses() async throws {
        let napClock = ManualClock()
        async let limited = TimeLimit(.seconds(60), on: clock).cancelling {
            do {
                try await napClock.sleep(for: .seconds(100))
                return "slept"
            } catch {
                return "cancelled"
            }
        }
        try await napClock.waitForSleepers(count: 1)
        try await base.waitForSleepers(count: 1)
        base.advance(by: .nanoseconds(59_999_999_999))
        #expect(napClock.sleeperCount == 1)
        base.advance(by: .nanoseconds(1))
        let (value, limitPassed) = await limited
        #expect(value == "cancelled")
        #expect(limitPassed)
    }

    @Test("the caller's cancellation reaches the work, and is not the limit's")
    func callerCancels() async throws {
        let napClock = ManualClock()
        let limited = Task { [clock] in
            await TimeLimit(.seconds(60), on: clock).cancelling {
                (try? await napClock.sleep(for: .seconds(100))) == nil
            }
        }
        try await napClock.waitForSleepers(count: 1)
        limited.cancel()
        let (isCancelled, limitPassed) = await limited.value
        #expect(isCancelled)
        #expect(!limitPassed)
        #expect(clock.sleeperCount == 0)
    }

    @Test("an interruption happens exactly at the limit")
    func interrupts() async throws {
        let alarm = try #require(TimeLimit(.seconds(60), on: clock).alarm(besides: nil))
        let (happened, tell) = AsyncStream.makeStream(of: Void.self)
        alarm.interruption.onOccurrence { tell.finish() }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .nanoseconds(59_999_999_999))
        #expect(clock.sleeperCount == 1)
        base.advance(by: .nanoseconds(1))
        for await _ in happened {}
        #expect(alarm.end())
    }

    @Test("a timer that is ended in time interrupts nothing, and leaves no sleeper behind")
    func ended() async throws {
        let alarm = try #require(TimeLimit(.seconds(60), on: clock).alarm(besides: nil))
        let occurrences = Counter()
        alarm.interruption.onOccurrence { occurrences.increment() }
        try await base.waitForSleepers(count: 1)
        #expect(!alarm.end())
        try #require(clock.sleeperCount == 0)
        // A later alarm, so that the clock is seen to have come past the limit.
        let (later, ring) = AsyncStream.makeStream(of: Void.self)
        _ = clock.setAlarm(after: .seconds(61)) { ring.finish() }
        base.advance(by: .seconds(61))
        for await _ in later {}
        #expect(occurrences.value == 0)
        #expect(!alarm.end())
    }

    @Test("a clock that can only be slept on interrupts nothing")
    func sleptOn() {
        #expect(TimeLimit(.seconds(60), on: TestClock()).alarm(besides: nil) == nil)
    }
}
