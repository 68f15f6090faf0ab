import NautilusTesting
import Testing

@testable import Nautilus

@Suite("The timer of a time limit on the system's clocks")
struct TimeLimitAlarmTests {
    private let manual = ManualClock()

    @Test("it passes once its time has come, not a nanosecond before, and not after its end")
    func passing() async {
        let passed = Counter()
        let alarm = TimeLimitAlarm(SharedSleepClock(manual), besides: nil) { passed.increment() }
        alarm.set(after: .seconds(10))
        await manual.run(for: .nanoseconds(9_999_999_999))
        #expect(passed.value == 0)
        await manual.run(for: .nanoseconds(1))
        #expect(passed.value == 1)
        #expect(alarm.end())
    }

    @Test("one that has ended never passes")
    func ended() async {
        let passed = Counter()
        let alarm = TimeLimitAlarm(SharedSleepClock(manual), besides: nil) { passed.increment() }
        alarm.set(after: .seconds(10))
        #expect(!alarm.end())
        await manual.run()
        #expect(passed.value == 0)
        #expect(!alarm.end())
    }

    @Test("standing in line for a connection does not count")
    func waiting() async {
        let passed = Counter()
        let wait = ConnectionWait(on: manual)
        let alarm = TimeLimitAlarm(SharedSleepClock(manual), besides: wait) { passed.increment() }
        alarm.set(after: .seconds(10))
        wait.begin()
        await manual.run(for: .seconds(15))
        wait.end()
        await manual.run(for: .nanoseconds(9_999_999_999))
        #expect(passed.value == 0)
        await manual.run(for: .nanoseconds(1))
        #expect(passed.value == 1)
    }
}
