import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("GuardedRefresh: waiting for the end of a refresh", .endsInTime)
struct RefreshWaitTests {
    /// Joins the queue while `holds`; says whether it waits.
    private func waits(_ guarded: Locked<GuardedRefresh>, while holds: @Sendable (RefreshState) -> Bool) async throws
        -> Bool
    {
        let answer = Locked(false)
        try await guarded.wait { guarded, waiter in
            guarded.wait(waiter, while: holds)
        } joined: { waits, waiter in
            answer.withLock { $0 = waits }
            // The test is not to wait for a waiter that is never resumed.
            waiter.resume()
        } leave: { _, _ in
            nil
        }
        return answer.withLock { $0 }
    }

    @Test("a call that comes when no refresh is under way passes, and is not left in the queue")
    func nothingHolds() async throws {
        let guarded = Locked(GuardedRefresh(limits: RefreshLimits()))
        #expect(try await !waits(guarded) { _ in false })
        #expect(guarded.withLock { $0.waiters.count } == 0)
    }

    @Test("a call that comes during a refresh waits")
    func holds() async throws {
        let guarded = Locked(GuardedRefresh(limits: RefreshLimits()))
        #expect(try await waits(guarded) { _ in true })
        #expect(guarded.withLock { $0.waiters.count } == 1)
    }

    @Test("an alarm that rings starts a refresh if it is the present one, and calls still wait, and it does so once")
    func alarm() async throws {
        let guarded = Locked(GuardedRefresh(limits: RefreshLimits()))
        let (present, replaced) = (RefreshAlarm(time: .seconds(2)), RefreshAlarm(time: .seconds(1)))
        func rings(_ alarm: RefreshAlarm) -> Bool { guarded.withLock { $0.takeAlarm(alarm) } }
        guarded.withLock { $0.alarm = present }
        #expect(!rings(present), "nobody waits")
        #expect(guarded.withLock { $0.alarm } == nil)
        guarded.withLock { $0.alarm = present }
        #expect(try await waits(guarded) { _ in true })
        #expect(!rings(replaced))
        #expect(guarded.withLock { $0.alarm } === present)
        #expect(rings(present))
        #expect(!rings(present))
    }
}
