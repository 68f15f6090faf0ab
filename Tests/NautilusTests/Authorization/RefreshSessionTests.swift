import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: sessions", .endsInTime)
struct RefreshSessionTests {
    typealias Coordinator = RefreshCoordinator<String>

    let clock = TestClock()
    let script = RefreshScript()

    private func signedIn(limits: RefreshLimits = RefreshLimits()) -> Coordinator {
        Coordinator(credential: "a", limits: limits, clock: clock, random: Draw(1), refresh: script.run)
    }

    @Test("B7: a terminal failure ends the session: one event, and later calls fail without a refresh")
    func terminalFailure() async throws {
        let coordinator = signedIn()
        let events = coordinator.events
        let credential = try await coordinator.credential()
        let calls = await startWaiting(20, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.fail(with: RefreshError.Terminal("invalid_grant"))
        #expect(await calls.outcomes == Array(repeating: "sessionExpired", count: 20))
        #expect(await outcome { try await coordinator.credential() } == "sessionExpired")
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "sessionExpired")
        #expect(coordinator.current == nil)
        #expect(script.count == 1)
        coordinator.signIn("b")
        #expect(await events.first(2) == ["sessionExpired 1 sessionExpired", "signedIn 2"])
    }

    @Test(
        "B11: a sign-out during a refresh fails the waiters, and the late result is dropped",
        arguments: [true, false]
    )
    func signOut(obeysCancellation: Bool) async throws {
        let script = RefreshScript(obeysCancellation: obeysCancellation)
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let events = coordinator.events
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("the refresh has started") { script.count == 1 }
        coordinator.signOut()
        #expect(await calls.outcomes == Array(repeating: "signedOut", count: 3))
        if !obeysCancellation { await script.succeed(with: "late") }
        await eventually("the refresh has ended") { coordinator.runningCount == 0 }
        #expect(script.cancellations == 1)
        #expect(coordinator.current == nil)
        #expect(await outcome { try await coordinator.credential() } == "signedOut")
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "signedOut")
        coordinator.signIn("b")
        #expect(await events.first(2) == ["signedOut 1", "signedIn 2"])
        #expect(script.count == 1)
    }

    @Test("B12: a sign-in as B during A's refresh fails A's calls and keeps B's credential", arguments: [true, false])
    func signInAsAnother(obeysCancellation: Bool) async throws {
        let script = RefreshScript(obeysCancellation: obeysCancellation)
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        let rejected = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let unsent = await startWaiting(3, on: coordinator) { try await coordinator.credential() }
        await eventually("the refresh has started") { script.count == 1 }
        coordinator.signIn("b")
        #expect(await (rejected + unsent).outcomes == Array(repeating: "superseded", count: 6))
        if !obeysCancellation { await script.succeed(with: "late a") }
        await eventually("the refresh has ended") { coordinator.runningCount == 0 }
        #expect(coordinator.current?.credential == "b")
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "superseded")
        #expect(await outcome { try await coordinator.credential(continuing: credential) } == "superseded")
        #expect(await outcome { try await coordinator.credential() } == "generation 2")
        #expect(script.received == ["a"])
    }

    @Test("invariant 6: B's session may refresh while A's refresh has not ended")
    func otherUsersSlot() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let first = try await coordinator.credential()
        let calls = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: first) }
        await eventually("the refresh has started") { script.count == 1 }
        coordinator.signIn("b")
        #expect(await calls.outcomes == ["superseded"])
        let second = try await coordinator.credential()
        let others = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: second) }
        await eventually("the second refresh has started") { script.count == 2 }
        await script.succeed(with: "late a")
        await eventually("A's refresh has ended") { coordinator.runningCount == 1 }
        #expect(coordinator.current?.credential == "b")
        await script.succeed(with: "b'")
        #expect(await others.outcomes == ["generation 3"])
        #expect(coordinator.current?.credential == "b'")
    }

    @Test("B14: a credential replaced between the 401 and its handling is used, without a refresh")
    func replacedMeanwhile() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        coordinator.replace(credential, with: "from elsewhere")
        #expect(try await coordinator.refresh(rejecting: credential).credential == "from elsewhere")
        #expect(try await coordinator.credential(continuing: credential).credential == "from elsewhere")
        #expect(script.count == 0)
    }

    @Test("a replacement during a refresh serves those who wait, and the refresh is cancelled and dropped")
    func replacedDuringRefresh() async throws {
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        coordinator.replace(credential, with: "from elsewhere")
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 3))
        await script.fail(with: RefreshError.Terminal("spent twice"))
        await eventually("the refresh has ended") { coordinator.runningCount == 0 }
        #expect(coordinator.current?.credential == "from elsewhere")
        #expect(script.cancellations == 1)
    }

    @Test("a replacement of a credential that is no longer the present one does nothing")
    func replacedTooLate() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        coordinator.signIn("b")
        coordinator.replace(credential, with: "a's, from elsewhere")
        #expect(coordinator.current?.credential == "b")
        coordinator.signOut()
        coordinator.replace(credential, with: "a's, from elsewhere")
        #expect(coordinator.current == nil)
    }

    @Test("nobody signed in: calls fail, and nothing is refreshed")
    func signedOut() async {
        let coordinator = Coordinator(clock: clock, refresh: script.run)
        #expect(coordinator.current == nil)
        #expect(await outcome { try await coordinator.credential() } == "signedOut")
        #expect(script.count == 0)
    }
}
