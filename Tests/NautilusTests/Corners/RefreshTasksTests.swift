import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The tasks of a refresh")
struct RefreshTasksTests {
    /// A task that ends when it is cancelled.
    private static func task() -> Task<Void, Never> {
        Task { for await _ in AsyncStream<Never>(Never.self, { _ in }) {} }
    }

    @Test("when the refresh has ended before its tasks were handed in, the timer is cancelled, and it alone")
    func endedBefore() {
        let (tasks, refresh, timer) = (RefreshTasks(), Self.task(), Self.task())
        tasks.end()
        tasks.handIn(refresh: refresh, timer: timer)
        #expect(timer.isCancelled)
        #expect(!refresh.isCancelled)
        refresh.cancel()
    }

    @Test("both tasks of a refresh are cancelled if it was cancelled before they were handed in")
    func cancelledBefore() {
        let (tasks, refresh, timer) = (RefreshTasks(), Self.task(), Self.task())
        tasks.cancel()
        tasks.handIn(refresh: refresh, timer: timer)
        #expect(refresh.isCancelled)
        #expect(timer.isCancelled)
    }

    @Test("the end of a refresh ends its timer; cancelling ends both")
    func afterwards() {
        let (ended, cancelled) = (RefreshTasks(), RefreshTasks())
        let handedIn = (0..<4).map { _ in Self.task() }
        ended.handIn(refresh: handedIn[0], timer: handedIn[1])
        cancelled.handIn(refresh: handedIn[2], timer: handedIn[3])
        #expect(!handedIn.contains { $0.isCancelled })
        ended.end()
        cancelled.cancel()
        #expect(handedIn.map(\.isCancelled) == [false, true, true, true])
        handedIn[0].cancel()
    }

    @Test("an alarm that is stopped ends its timer, be it handed in by then or not; any other timer goes on")
    func alarms() {
        let alarms = (0..<3).map { RefreshAlarm(time: .seconds($0)) }
        let timers = alarms.map { _ in Self.task() }
        alarms[0].handIn(timers[0])
        alarms[0].stop()
        alarms[1].stop()
        alarms[1].handIn(timers[1])
        alarms[2].handIn(timers[2])
        #expect(timers.map(\.isCancelled) == [true, true, false])
        timers[2].cancel()
    }
}
