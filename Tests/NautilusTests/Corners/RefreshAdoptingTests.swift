import Nautilus
import TestSupport
import Testing

/// With what `import Nautilus` gives to everybody: the seam of sessions that processes share.
@Suite("RefreshCoordinator: changes by other processes", .endsInTime)
struct RefreshAdoptingTests {
    typealias Coordinator = RefreshCoordinator<String>

    let clock = TestClock()
    let script = RefreshScript()

    @Test("a refresh elsewhere serves the calls that wait for one here, which is cancelled and dropped")
    func refreshed() async throws {
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("the refresh has started") { script.count == 1 }
        let epoch = coordinator.epoch
        #expect(coordinator.adopt(.refreshed("from elsewhere"), since: epoch))
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 3))
        await eventually("the refresh has been cancelled") { script.cancellations == 1 }
        #expect(coordinator.current?.credential == "from elsewhere")
        #expect(try await coordinator.credential(continuing: credential).generation == 2, "the session goes on")
    }

    @Test("a sign-in elsewhere, and a sign-out, end the session of those who wait", arguments: [true, false])
    func otherSession(isSignIn: Bool) async throws {
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        #expect(coordinator.adopt(isSignIn ? .signedIn("b") : .signedOut, since: coordinator.epoch))
        #expect(await calls.outcomes == Array(repeating: isSignIn ? "superseded" : "signedOut", count: 3))
        #expect(coordinator.current?.credential == (isSignIn ? "b" : nil))
        let next = await outcome { try await coordinator.credential(continuing: credential) }
        #expect(next == (isSignIn ? "superseded" : "signedOut"))
    }

    @Test("a session that has expired elsewhere has expired here: those who wait hear it, and so do later calls")
    func expired() async throws {
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let events = coordinator.events
        let credential = try await coordinator.credential()
        let calls = await startWaiting(3, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let failure = RefreshError.Terminal("invalid_grant")
        #expect(coordinator.adopt(.expired(failure), since: coordinator.epoch))
        #expect(await calls.outcomes == Array(repeating: "sessionExpired", count: 3))
        #expect(await outcome { try await coordinator.credential() } == "sessionExpired")
        // No user has signed in since: it is no second event.
        coordinator.adopt(.expired(failure), since: coordinator.epoch)
        coordinator.signIn("b")
        #expect(await events.first(2) == ["sessionExpired 1 sessionExpired", "signedIn 2"])
    }

    @Test("a look at the store that something here has overtaken is repeated")
    func late() async throws {
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        let epoch = coordinator.epoch
        coordinator.signIn("b")
        for change in [SessionChange.refreshed("a'"), .signedIn("a'"), .signedOut] {
            #expect(!coordinator.adopt(change, since: epoch))
        }
        #expect(coordinator.current?.credential == "b")
        #expect(epoch != coordinator.epoch)
    }

    @Test("a listener is told of every event in order, before the streams are, and may use the coordinator")
    func listener() async throws {
        // On one thread: elsewhere a caller may go on while the refresh's thread still tells the listener.
        try await simulate { [clock] _ in
            let (heard, own) = (Locked<[String]>([]), Locked<Coordinator?>(nil))
            let coordinator = Coordinator(credential: "a", clock: clock) { event in
                let current = own.withLock { $0 }?.current?.credential ?? "nobody"
                heard.withLock { $0.append("\(event.summary) \(current)") }
            } refresh: { _ in
                "b"
            }
            own.withLock { $0 = coordinator }
            let credential = try await coordinator.credential()
            _ = try await coordinator.refresh(rejecting: credential)
            coordinator.adopt(.signedOut, since: coordinator.epoch)
            #expect(heard.withLock { $0 } == ["signedIn 1 nobody", "refreshed 2 b", "signedOut 2 nobody"])
            own.withLock { $0 = nil }
        }
    }

    @Test("the wait for the end of a refresh ends with it, whoever waits for its credential, and at once without one")
    func waitForRefresh() async throws {
        let coordinator = Coordinator(credential: "a", clock: clock, refresh: script.run)
        try await coordinator.waitForRefresh()
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        call.forEach { $0.cancel() }
        _ = await call.outcomes
        let wait = Task { try await coordinator.waitForRefresh() }
        await eventually("it waits") { coordinator.waiterCount == 1 }
        await script.succeed(with: "b")
        try await wait.value
        #expect(coordinator.current?.credential == "b", "it is published by then")
    }
}
