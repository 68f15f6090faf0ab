import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusHTTP

@Suite("SharedSleepClock", .endsInTime)
struct SharedSleepClockTests {
    let base = ManualClock()
    let clock: SharedSleepClock<ManualClock>

    init() {
        clock = SharedSleepClock(base)
    }

    @Test("a sleeper wakes when its deadline has come, not before")
    func wakesAtDeadline() async throws {
        let nap = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(60)) }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .nanoseconds(59_999_999_999))
        #expect(clock.sleeperCount == 1)
        base.advance(by: .nanoseconds(1))
        try await nap.value
        #expect(base.now.offset == .seconds(60))
        #expect(clock.sleeperCount == 0)
    }

    @Test("a thousand sleeps that are cancelled ask for one sleep underneath")
    func cancelledSleepsLeaveNothing() async throws {
        for _ in 1...1_000 {
            let nap = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(60)) }
            try await base.waitForSleepers(count: 1)
            nap.cancel()
            await #expect(throws: CancellationError.self) { try await nap.value }
        }
        #expect(base.sleeps == [.seconds(60)])
        #expect(clock.sleeperCount == 0)
    }

    @Test("a task that was cancelled before does not sleep")
    func cancelledBefore() async {
        let nap = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(untilLimitOf: .seconds(60))
        }
        await #expect(throws: CancellationError.self) { try await nap.value }
        #expect(base.sleeps.isEmpty)
    }

    @Test("a deadline that has passed returns at once")
    func passedDeadline() async throws {
        base.advance(by: .seconds(2))
        try await clock.sleep(untilLimitOf: .seconds(-1))
        #expect(clock.sleeperCount == 0)
    }

    @Test("a nearer deadline is kept, and so is the further one")
    func nearerDeadline() async throws {
        let far = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(60)) }
        try await base.waitForSleepers(count: 1)
        let near = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(5)) }
        try await base.waitForSleepers(count: 2)

        base.advance(by: .seconds(5))
        try await near.value
        #expect(clock.sleeperCount == 1)
        base.advance(by: .seconds(55))
        try await far.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("short sleeps beside a long one leave no sleep of the clock underneath behind")
    func shortBesideLong() async throws {
        let far = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(3600)) }
        try await base.waitForSleepers(count: 1)
        for _ in 1...100 {
            let near = Task { [clock] in try await clock.sleep(untilLimitOf: .milliseconds(100)) }
            try await base.waitForSleepers(count: 2)
            base.advance(by: .milliseconds(100))
            try await near.value
        }
        base.advance(by: .seconds(3590))
        try await far.value
        #expect(base.sleeps.count == 101)
        #expect(base.sleeperCount == 0)
    }

    @Test("an alarm that rings for a cancelled sleeper is set again for the next")
    func setAgain() async throws {
        let first = Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(60)) }
        try await base.waitForSleepers(count: 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }

        base.advance(by: .seconds(20))
        async let second: Void = clock.sleep(untilLimitOf: .seconds(60))
        while clock.sleeperCount == 0 { await Task.yield() }
        base.advance(by: .seconds(40))
        try await base.waitForSleepers(count: 1)
        #expect(base.nextDeadline?.offset == .seconds(80))
        base.advance(by: .seconds(20))
        try await second
    }

    @Test("sleepers of one deadline wake together")
    func together() async throws {
        let naps = (0..<100).map { _ in Task { [clock] in try await clock.sleep(untilLimitOf: .seconds(1)) } }
        while clock.sleeperCount < 100 { await Task.yield() }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .seconds(1))
        for nap in naps { try await nap.value }
        #expect(base.sleeps == [.seconds(1)])
    }

    @Test("the clocks of the system have alarms, which all share; a clock of one's own has none")
    func systemClocks() throws {
        let continuous = try #require(ContinuousClock().alarms as? SharedSleepClock<ContinuousClock>)
        #expect(ContinuousClock().alarms as? SharedSleepClock<ContinuousClock> === continuous)
        #expect(SuspendingClock().alarms is SharedSleepClock<SuspendingClock>)
        #expect(TestClock().alarms == nil)
    }

    @Test("an alarm rings once when its time has come, and a cancelled one does not", arguments: [false, true])
    func alarm(isCancelled: Bool) async throws {
        let (rung, later) = (Counter(), Counter())
        let id = clock.setAlarm(after: .seconds(5)) { rung.increment() }
        _ = clock.setAlarm(after: .seconds(5)) { later.increment() }
        #expect(clock.sleeperCount == 2)
        if isCancelled { clock.cancelAlarm(id) }
        #expect(clock.sleeperCount == (isCancelled ? 1 : 2))
        try await base.waitForSleepers(count: 1)
        base.advance(by: .seconds(5))
        // Alarms of one time ring in the order in which they were set.
        await later.reaches(1)
        #expect(rung.value == (isCancelled ? 0 : 1))
        #expect(clock.sleeperCount == 0)
    }
}
