import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The timer of a time limit on the system's clocks", .endsInTime)
struct TimeLimitAlarmTests {
    private let manual = ManualClock()

    @Test("an alarm rings exactly when its time has come, and not after it has ended")
    func passing() async throws {
        let passed = Counter()
        let alarm = TimeLimitAlarm(SharedSleepClock(manual), besides: nil) { passed.increment() }
        alarm.set(after: .seconds(10))
        try await manual.waitForSleepers(count: 1)
        manual.advance(by: .nanoseconds(9_999_999_999))
        #expect(manual.sleeperCount == 1)
        #expect(passed.value == 0)
        manual.advance(by: .nanoseconds(1))
        await passed.reaches(1)
        #expect(alarm.end())
        #expect(passed.value == 1)
    }

    @Test("an alarm that has ended never rings")
    func ended() async throws {
        let clock = SharedSleepClock(manual)
        let (passed, later) = (Counter(), Counter())
        let alarm = TimeLimitAlarm(clock, besides: nil) { passed.increment() }
        alarm.set(after: .seconds(10))
        _ = clock.setAlarm(after: .seconds(10)) { later.increment() }
        #expect(!alarm.end())
        try await manual.waitForSleepers(count: 1)
        manual.advance(by: .seconds(10))
        await later.reaches(1)
        #expect(passed.value == 0)
        #expect(!alarm.end())
    }

    @Test("queueing for a connection does not count")
    func waiting() async throws {
        let passed = Counter()
        let wait = ExchangeProgress(Stopwatch(manual))
        let alarm = TimeLimitAlarm(SharedSleepClock(manual), besides: wait) { passed.increment() }
        alarm.set(after: .seconds(10))
        try await manual.waitForSleepers(count: 1)
        wait.beginWaiting()
        manual.advance(by: .seconds(10))
        // It is set again, for the ten seconds in the queue.
        try await manual.waitForSleepers(count: 1)
        manual.advance(by: .seconds(5))
        wait.endWaiting()
        manual.advance(by: .seconds(5))
        // And once more, for the five that were left then.
        try await manual.waitForSleepers(count: 1)
        manual.advance(by: .nanoseconds(4_999_999_999))
        #expect(manual.sleeperCount == 1)
        #expect(passed.value == 0)
        manual.advance(by: .nanoseconds(1))
        await passed.reaches(1)
        #expect(passed.value == 1)
    }

    @Test("an alarm that was ended too late to be cancelled has no effect when it rings")
    func tooLate() throws {
        final class LateClock: AlarmClock {
            let rings = Locked<[@Sendable () -> Void]>([])
            func setAlarm(after delay: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
                rings.withLock { $0.append(ring) }
                return 1
            }
            func cancelAlarm(_ id: Int) {}
        }
        let (clock, passed) = (LateClock(), Counter())
        let alarm = TimeLimitAlarm(clock, besides: nil) { passed.increment() }
        alarm.set(after: .seconds(10))
        #expect(!alarm.end())
        let ring = try #require(clock.rings.withLock { $0.first })
        ring()
        #expect(passed.value == 0)
        #expect(!alarm.end())
    }
}
