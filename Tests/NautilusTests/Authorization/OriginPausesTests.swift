import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("OriginPauses and the coordinator as a gate", .endsInTime)
struct OriginPausesTests {
    let clock = TestClock()

    private func startPassing(_ gate: any RetryGate, _ origin: HttpOrigin) -> Task<String, Never> {
        Task { await passing(gate, origin) }
    }

    private func passing(_ gate: any RetryGate, _ origin: HttpOrigin) async -> String {
        do { try await gate.pass(to: origin) } catch { return kind(error) }
        return "passed"
    }

    @Test("a pause ends at its last nanosecond")
    func end() throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        #expect(gate.remainingPause(of: origin) == .zero)
        gate.close(origin, for: .seconds(2))
        clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(gate.remainingPause(of: origin) == .nanoseconds(1))
        clock.advance(by: .nanoseconds(1))
        #expect(gate.remainingPause(of: origin) == .zero)
    }

    @Test("a shorter pause does not shorten one that runs; a longer one extends it")
    func longest() throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        gate.close(origin, for: .seconds(5))
        gate.close(origin, for: .seconds(1))
        #expect(gate.remainingPause(of: origin) == .seconds(5))
        gate.close(origin, for: .seconds(7))
        #expect(gate.remainingPause(of: origin) == .seconds(7))
    }

    @Test("an order to wait for no time sends nobody one after the other", arguments: [0, -1])
    func noTime(seconds: Int) async throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        gate.close(origin, for: .seconds(seconds))
        for _ in 1...3 { try await gate.pass(to: origin) }
        #expect(clock.now.offset == .zero)
    }

    @Test(
        "a pause of one origin does not pause others",
        arguments: ["https://api.example.com:8443", "http://api.example.com", "https://example.com"]
    )
    func others(url: String) async throws {
        let gate = OriginPauses(clock: clock)
        gate.close(try testOrigin(), for: .seconds(5))
        #expect(gate.remainingPause(of: try testOrigin(url)) == .zero)
        try await gate.pass(to: testOrigin(url))
    }

    @Test("the pauses of many origins run side by side, and none is forgotten for the others")
    func many() throws {
        let gate = OriginPauses(clock: clock)
        let origins = try (1...200).map { try testOrigin("https://api\($0).example.com") }
        for origin in origins { gate.close(origin, for: .seconds(5)) }
        #expect(origins.allSatisfy { gate.remainingPause(of: $0) == .seconds(5) })
    }

    @Test("no pause is too long or too short", arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero])
    func extremes(pause: Duration) throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        gate.close(origin, for: pause)
        gate.close(origin, for: pause)
        #expect((gate.remainingPause(of: origin) > .zero) == (pause > .zero))
    }

    @Test("retries wait until the pause is over, also when it is extended while they wait")
    func extended() async throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        gate.close(origin, for: .seconds(2))
        let retry = startPassing(gate, origin)
        await eventually("the retry waits") { clock.sleeperCount == 1 }
        gate.close(origin, for: .seconds(5))
        clock.advance(by: .seconds(2))
        await eventually("it has looked again, and waits on") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(3))
        #expect(await retry.value == "passed")
    }

    @Test("a cancelled retry leaves the gate at once; one cancelled before does not pass an open gate")
    func cancelled() async throws {
        let (gate, origin) = (OriginPauses(clock: clock), try testOrigin())
        let coordinator = RefreshCoordinator(credential: "a", clock: clock) { $0 }
        for gate in [gate, coordinator] as [any RetryGate] {
            gate.close(origin, for: .seconds(2))
            let retry = startPassing(gate, origin)
            await eventually("the retry waits") { clock.sleeperCount == 1 }
            retry.cancel()
            #expect(await retry.value == "cancelled")
            clock.advance(by: .seconds(2))
            let (stream, start) = AsyncStream<Void>.makeStream()
            let late = Task {
                for await _ in stream {}
                return await passing(gate, origin)
            }
            late.cancel()
            start.finish()
            #expect(await late.value == "cancelled")
        }
    }

    @Test("a retry waits out the refresh in flight, whatever comes of it", arguments: [true, false])
    func refreshInFlight(succeeds: Bool) async throws {
        let (script, origin) = (RefreshScript(), try testOrigin())
        let coordinator = RefreshCoordinator(credential: "a", limits: .impatient, clock: clock, refresh: script.run)
        try await coordinator.pass(to: origin)
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let retry = startPassing(coordinator, origin)
        await eventually("call and retry wait") { coordinator.waiterCount == 2 }
        #expect(coordinator.remainingPause(of: origin) == .zero)
        await script.end(with: succeeds ? .success("b") : .failure(Unreachable()))
        #expect(await retry.value == "passed")
        _ = await call.outcomes
    }

    @Test("a retry that is cancelled during a refresh leaves at once, and the refresh goes on")
    func cancelledDuringRefresh() async throws {
        let (script, origin) = (RefreshScript(), try testOrigin())
        let coordinator = RefreshCoordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        let retry = startPassing(coordinator, origin)
        await eventually("call and retry wait") { coordinator.waiterCount == 2 }
        retry.cancel()
        #expect(await retry.value == "cancelled")
        await script.succeed(with: "b")
        #expect(await call.outcomes == ["generation 2"])
    }

    @Test("a retry waits out refresh and pause, in whatever order they end", arguments: [true, false])
    func refreshAndPause(refreshEndsFirst: Bool) async throws {
        let (script, origin) = (RefreshScript(), try testOrigin())
        let coordinator = RefreshCoordinator(credential: "a", clock: clock, refresh: script.run)
        let credential = try await coordinator.credential()
        coordinator.close(origin, for: .seconds(2))
        let retry = startPassing(coordinator, origin)
        await eventually("the retry sleeps") { clock.sleeperCount == 1 }
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await eventually("the refresh's timer runs") { clock.sleeperCount == 2 }
        if refreshEndsFirst {
            await script.succeed(with: "b")
            await eventually("the timer has gone") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(2))
        } else {
            clock.advance(by: .seconds(2))
            await eventually("the retry waits for the refresh") { coordinator.waiterCount == 2 }
            await script.succeed(with: "b")
        }
        #expect(await retry.value == "passed")
        #expect(await call.outcomes == ["generation 2"])
    }

    @Test("a background refresh holds back no retry while the credential serves")
    func backgroundRefresh() async throws {
        let (script, origin) = (RefreshScript(), try testOrigin())
        let coordinator = RefreshCoordinator(
            credential: "a",
            lifetime: { _ in .seconds(100) },
            clock: clock,
            refresh: script.run
        )
        clock.advance(by: .seconds(95))
        _ = try await coordinator.credential()
        await eventually("the refresh has started") { script.count == 1 }
        try await coordinator.pass(to: origin)
        await script.succeed(with: "b")
    }
}
