import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: single-flight", .endsInTime)
struct RefreshCoordinatorTests {
    typealias Coordinator = RefreshCoordinator<String>

    let clock = TestClock()
    let script = RefreshScript()

    private func signedIn(limits: RefreshLimits = .impatient) -> Coordinator {
        Coordinator(credential: "a", limits: limits, clock: clock, random: Draw(1), refresh: script.run)
    }

    @Test("B1: a hundred calls rejected together cause one refresh")
    func hundredCalls() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let calls = await startWaiting(100, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.succeed(with: "b")
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 100))
        #expect(script.received == ["a"])
        #expect(coordinator.current?.credential == "b")
    }

    @Test("B2: a late 401 with an old generation does not refresh again")
    func lateRejection() async throws {
        let coordinator = signedIn()
        let (early, late) = (try await coordinator.credential(), try await coordinator.credential())
        let first = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: early) }
        await script.succeed(with: "b")
        #expect(await first.outcomes == ["generation 2"])
        #expect(try await coordinator.refresh(rejecting: late).credential == "b")
        #expect(script.count == 1)
    }

    @Test("B3: six calls with an expired credential cause one refresh")
    func expired() async throws {
        let coordinator = Coordinator(
            credential: "a",
            lifetime: { _ in .seconds(100) },
            clock: clock,
            refresh: script.run
        )
        clock.advance(by: .seconds(100))
        let calls = await startWaiting(6, on: coordinator) { try await coordinator.credential() }
        await script.succeed(with: "b")
        #expect(await calls.outcomes == Array(repeating: "generation 2", count: 6))
        #expect(script.count == 1)
    }

    @Test("invariant 9: within the leeway one refresh runs in the background while the credential serves")
    func leeway() async throws {
        let coordinator = Coordinator(
            credential: "a",
            lifetime: { _ in .seconds(100) },
            clock: clock,
            refresh: script.run
        )
        clock.advance(by: .seconds(90))
        for _ in 1...3 { #expect(try await coordinator.credential().generation == 1) }
        await script.succeed(with: "b")
        await eventually("the new credential is there") { coordinator.current?.generation == 2 }
        #expect(script.count == 1)
    }

    @Test("invariant 9: lifetimes count from receipt, for each credential anew")
    func receipt() async throws {
        let coordinator = Coordinator(
            credential: "a",
            lifetime: { $0 == "a" ? .seconds(100) : .seconds(200) },
            clock: clock,
            refresh: script.run
        )
        clock.advance(by: .seconds(100))
        let call = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        clock.advance(by: .seconds(10))
        await script.succeed(with: "b")
        #expect(await call.outcomes == ["generation 2"])
        clock.advance(by: .seconds(180) - .nanoseconds(1))
        #expect(try await coordinator.credential().generation == 2)
        #expect(script.count == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(try await coordinator.credential().generation == 2)
        await script.succeed(with: "c")
        await eventually("the new credential is there") { coordinator.current?.generation == 3 }
        #expect(script.received == ["a", "b"])
    }

    @Test("B4: the call that started the refresh is cancelled; it ends at once and the other nine succeed")
    func starterCancelled() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let starter = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let others = await startWaiting(9, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        starter.forEach { $0.cancel() }
        #expect(await starter.outcomes == ["cancelled"])
        #expect(coordinator.waiterCount == 9)
        await script.succeed(with: "b")
        #expect(await others.outcomes == Array(repeating: "generation 2", count: 9))
        #expect((script.count, script.cancellations) == (1, 0))
        #expect(coordinator.current?.credential == "b")
    }

    @Test("B5: all waiters are cancelled; the refresh goes on and its credential is kept")
    func allCancelled() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let calls = await startWaiting(5, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        calls.forEach { $0.cancel() }
        #expect(await calls.outcomes == Array(repeating: "cancelled", count: 5))
        await script.succeed(with: "b")
        await eventually("the new credential is there") { coordinator.current?.credential == "b" }
        #expect((script.count, script.cancellations) == (1, 0))
    }

    @Test("a call that is cancelled before it asks starts no refresh")
    func cancelledBefore() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let (stream, gate) = AsyncStream<Void>.makeStream()
        let call = Task {
            for await _ in stream {}
            return await outcome { try await coordinator.refresh(rejecting: credential) }
        }
        call.cancel()
        gate.finish()
        #expect(await call.value == "cancelled")
        #expect(script.count == 0)
        #expect(try await coordinator.credential().generation == 1, "nobody has reported the credential as rejected")
    }

    @Test("B6: a transient failure fails all twenty with the same error, and a later call may refresh again")
    func transientFailure() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let calls = await startWaiting(20, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.fail(with: Unreachable())
        #expect(await calls.outcomes == Array(repeating: "failed(Unreachable)", count: 20))
        #expect(coordinator.current?.credential == "a", "the credential is kept")

        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "coolingDown(1 s)")
        #expect(
            await outcome { try await coordinator.credential() } == "coolingDown(1 s)",
            "not sent with the dead one"
        )
        clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(await outcome { try await coordinator.credential() } == "coolingDown(0 ms)")
        #expect(script.count == 1)
        clock.advance(by: .nanoseconds(1))
        let later = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.succeed(with: "b")
        #expect(await later.outcomes == ["generation 2"])
        #expect(script.count == 2)
    }

    @Test("invariant 5: cool-downs back off from 1 s to 30 s")
    func coolDowns() async throws {
        let coordinator = signedIn(limits: RefreshLimits(maxStarts: 100, maxCoolDowns: 0))
        let credential = try await coordinator.credential()
        for expected in [1, 2, 4, 8, 16, 30, 30] {
            let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
            await script.fail(with: Unreachable())
            #expect(await call.outcomes == ["failed(Unreachable)"])
            #expect(await outcome { try await coordinator.credential() } == "coolingDown(\(expected) s)")
            clock.advance(by: .seconds(expected))
        }
    }

    @Test("B8: a fresh credential that is rejected again is refreshed only for the next call")
    func rejectedAgain() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.succeed(with: "b")
        #expect(await call.outcomes == ["generation 2"])
        #expect(try await coordinator.credential().generation == 2, "nothing refreshes unless somebody asks for it")
        #expect(script.count == 1)
    }

    @Test("B9: a hundred calls whose every credential is rejected cause five refreshes in 30 s")
    func refreshLoop() async throws {
        let count = Counter()
        let coordinator = Coordinator(credential: "a", clock: clock) { _ in "fresh \(count.increment())" }
        var outcomes: [String: Int] = [:]
        for _ in 1...100 {
            let result = await outcome {
                let credential = try await coordinator.credential()
                return try await coordinator.refresh(rejecting: credential)
            }
            outcomes[result.hasPrefix("generation") ? "refreshed" : result, default: 0] += 1
        }
        #expect(outcomes == ["refreshed": 5, "tooManyRefreshes(5 in 30 s)": 95])
        #expect(count.value == 5)
        clock.advance(by: .seconds(30))
        #expect(
            try await coordinator.credential().generation == 7,
            "the rejected credential is replaced before it is used"
        )
    }

    @Test("B13: a call that starts during a refresh waits and gets the new credential")
    func startsDuringRefresh() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let rejected = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let fresh = await startWaiting(4, on: coordinator) { try await coordinator.credential() }
        await script.succeed(with: "b")
        #expect(await (rejected + fresh).outcomes == Array(repeating: "generation 2", count: 5))
        #expect(script.count == 1)
    }

    @Test("B15: a refresh that finishes synchronously resumes everybody once")
    func synchronousRefresh() async throws {
        let count = Counter()
        let coordinator = Coordinator(credential: "a", limits: .init(maxStarts: 1_000), clock: clock) { _ in
            "fresh \(count.increment())"
        }
        for round in 1...200 {
            let credential = try await coordinator.credential()
            let calls = (0..<4).map { _ in
                Task { await outcome { try await coordinator.refresh(rejecting: credential) } }
            }
            #expect(await calls.outcomes == Array(repeating: "generation \(round + 1)", count: 4))
        }
        #expect(count.value == 200)
        await eventually("all timers have gone") { clock.sleeperCount == 0 }
        #expect((coordinator.waiterCount, coordinator.runningCount) == (0, 0))
    }

    @Test(
        "B20: a credential that a wrong clock calls expired as it comes serves until the server rejects it, without a loop"
    )
    func expiresAtOnce() async throws {
        let count = Counter()
        let coordinator = Coordinator(credential: "a", lifetime: { _ in .zero }, clock: clock) { _ in
            "fresh \(count.increment())"
        }
        let credential = try await coordinator.credential()
        for _ in 1...10 { #expect(try await coordinator.credential().generation == 2) }
        #expect(count.value == 1)
        #expect(try await coordinator.refresh(rejecting: credential).generation == 3)
        #expect(count.value == 2)
    }

    @Test("invariant 2: whoever is resumed finds the new credential published")
    func publishedFirst() async throws {
        let coordinator = signedIn()
        let credential = try await coordinator.credential()
        let calls = (0..<50).map { _ in
            Task {
                let fresh = try await coordinator.refresh(rejecting: credential)
                return coordinator.current?.generation == fresh.generation
            }
        }
        await eventually("all wait") { coordinator.waiterCount == 50 }
        await script.succeed(with: "b")
        for call in calls { #expect(try await call.value) }
    }
}
