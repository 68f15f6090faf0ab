import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: the time limit of a refresh", .endsInTime)
struct RefreshTimeLimitTests {
    let clock = TestClock()

    /// A coordinator whose refresh has run into its time limit.
    private func overdue(_ script: RefreshScript, limits: RefreshLimits = .impatient) async throws
        -> RefreshCoordinator<String>
    {
        let coordinator = RefreshCoordinator(
            credential: "a",
            limits: limits,
            clock: clock,
            random: Draw(1),
            refresh: script.run
        )
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("refresh and timer run") { script.count == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30) - .nanoseconds(1))
        #expect(coordinator.waiterCount == 3)
        clock.advance(by: .nanoseconds(1))
        #expect(await calls.outcomes == Array(repeating: "timedOut(30 s, next in 30 s)", count: 3))
        await eventually("the refresh has been cancelled") { script.cancellations == 1 }
        return coordinator
    }

    @Test("invariant 10: a refresh that obeys its cancellation frees the slot at once; only the cool-down remains")
    func obeys() async throws {
        let script = RefreshScript()
        let coordinator = try await overdue(script)
        await eventually("the refresh has ended") { coordinator.runningCount == 0 }
        #expect(await outcome { try await coordinator.credential() } == "coolingDown(1 s)")
        clock.advance(by: .seconds(1))
        let call = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await script.succeed(with: "b")
        #expect(await call.outcomes == ["generation 2"])
        #expect(script.count == 2)
    }

    @Test("invariant 10: a refresh that ignores its cancellation holds the slot until its grace is over")
    func ignores() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = try await overdue(script)
        clock.advance(by: .seconds(30) - .nanoseconds(1))
        #expect(await outcome { try await coordinator.credential() } == "coolingDown(0 ms)")
        #expect(script.count == 1)
        clock.advance(by: .nanoseconds(1))
        let call = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await eventually("the next refresh has started") { script.count == 2 }
        await script.succeed(with: "late, from the first")
        #expect(await call.outcomes == ["generation 2"])
        #expect(coordinator.current?.credential == "late, from the first")
        await eventually("the second is cancelled") { script.cancellations == 2 }
        await script.succeed(with: "from the second")
        await eventually("both have ended") { coordinator.runningCount == 0 }
        #expect(coordinator.current?.credential == "late, from the first")
    }

    @Test("invariant 10: a success that still arrives is adopted, and ends the cool-down")
    func lateSuccess() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = try await overdue(script)
        await script.succeed(with: "late")
        await eventually("the late credential is there") { coordinator.current?.credential == "late" }
        #expect(try await coordinator.credential().generation == 2)
    }

    @Test("a refresh that ends in time leaves no timer behind", arguments: [true, false])
    func noTimerLeft(succeeds: Bool) async throws {
        let script = RefreshScript()
        let coordinator = RefreshCoordinator(
            credential: "a",
            limits: .impatient,
            clock: clock,
            refresh: script.run
        )
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("the timer runs") { clock.sleeperCount == 1 }
        await script.end(with: succeeds ? .success("b") : .failure(Unreachable()))
        _ = await call.outcomes
        await eventually("the timer has gone") { clock.sleeperCount == 0 }
    }

    @Test("cancelling or ending a refresh before its tasks are handed in takes effect then", arguments: [true, false])
    func handedInLate(isCancelled: Bool) {
        let (first, refreshEnd) = AsyncStream<Void>.makeStream()
        let (second, timerEnd) = AsyncStream<Void>.makeStream()
        defer { for end in [refreshEnd, timerEnd] { end.finish() } }
        let refresh = Task { for await _ in first {} }
        let timer = Task { for await _ in second {} }
        let tasks = RefreshTasks()
        if isCancelled { tasks.cancel() } else { tasks.end() }
        tasks.handIn(refresh: refresh, timer: timer)
        #expect(refresh.isCancelled == isCancelled)
        #expect(timer.isCancelled)
    }

    @Test("the refresh keeps its coordinator alive until its result is stored")
    func outlivesItsOwner() async throws {
        let script = RefreshScript()
        weak var coordinator: RefreshCoordinator<String>?
        var events: AsyncStream<RefreshEvent>?
        do {
            let owned = RefreshCoordinator(credential: "a", clock: clock, refresh: script.run)
            (coordinator, events) = (owned, owned.events)
            let credential = try await owned.credential()
            let call = Task { await outcome { try await owned.refresh(rejecting: credential) } }
            await eventually("the refresh has started") { script.count == 1 }
            call.cancel()
            #expect(await call.value == "cancelled")
        }
        await script.succeed(with: "b")
        #expect(await events?.first(2) == ["refreshed 2"], "the stream ends with the coordinator")
        #expect(coordinator == nil)
    }

    @Test("C14: calls that have the time wait for the refresh after an overdue one: at once when that has ended")
    func waitsOutOverdue() async throws {
        let script = RefreshScript()
        let coordinator = patient(script)
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("refresh and timer run") { script.count == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await eventually("the refresh has ended") { script.cancellations == 1 && coordinator.runningCount == 0 }
        #expect(coordinator.waiterCount == 3)
        await eventually("the next start is 1 s away, not 30 s") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await script.succeed(with: "b")
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 3))
        #expect(script.count == 2)
    }

    @Test("C14: a success that still arrives serves those who wait for the refresh after it")
    func lateSuccessServes() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = patient(script)
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("refresh and timer run") { script.count == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await eventually("it has been cancelled") { script.cancellations == 1 }
        await script.succeed(with: "late")
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 3))
        await eventually("all timers have gone") { clock.sleeperCount == 0 }
        #expect(script.count == 1)
    }

    private func patient(_ script: RefreshScript) -> RefreshCoordinator<String> {
        RefreshCoordinator(
            credential: "a",
            limits: RefreshLimits(maxWait: .seconds(1000)),
            clock: clock,
            random: Draw(1),
            refresh: script.run
        )
    }

    @Test("C26: beside a refresh that never ends one other runs after the grace, and never a third")
    func twoAtMost() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = try await overdue(script)
        clock.advance(by: .seconds(30))
        let call = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await eventually("the second has started beside it") { script.count == 2 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        #expect(await call.outcomes == ["timedOut(30 s)"])
        for _ in 1...10 {
            clock.advance(by: .seconds(1000))
            #expect(await outcome { try await coordinator.credential() } == "timedOut(30 s)")
        }
        #expect(script.count == 2)

        await script.fail(with: Unreachable())
        await eventually("the first has ended") { coordinator.runningCount == 1 }
        let next = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await eventually("the third has started beside the second") { script.count == 3 }
        await script.succeed(with: "from the second")
        #expect(await next.outcomes == ["generation 2"])
    }

    @Test("C26: the two that may run are of one credential: the next user's refresh is not held up by them")
    func twoOfAnother() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = try await overdue(script)
        clock.advance(by: .seconds(30))
        let call = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await eventually("the second has started beside it") { script.count == 2 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        #expect(await call.outcomes == ["timedOut(30 s)"])
        coordinator.signIn("b")
        let credential = try await coordinator.credential()
        let others = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("the refresh of b has started") { script.received == ["a", "a", "b"] }
        coordinator.signOut()
        #expect(await others.outcomes == ["signedOut"])
    }
}
