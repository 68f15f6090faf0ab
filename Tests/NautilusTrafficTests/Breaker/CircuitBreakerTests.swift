import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("CircuitBreaker", .endsInTime)
struct CircuitBreakerTests {
    /// A breaker that opens at the second failure of two, for 5 s, 10 s, 20 s, … without jitter.
    private static func breaker(_ clock: ManualClock, cap: Duration = .seconds(60)) -> CircuitBreaker {
        let pause = Backoff.exponential(base: .seconds(5), cap: cap, jitter: .none)
        return CircuitBreaker(limits: CircuitLimits(minimumThroughput: 2, pause: pause), clock: clock)
    }

    private static func service(
        _ breaker: CircuitBreaker,
        _ clock: ManualClock,
        _ transport: any HttpTransport,
        retrier: any RetrierFactory = .never
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [breaker],
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        )
    }

    /// A breaker that has just opened for 5 s.
    private static func opened(_ clock: ManualClock) async throws -> CircuitBreaker {
        let breaker = breaker(clock)
        for _ in 1...2 { #expect(await breaker.outcome(of: try .test()) { .test(503) } == "503") }
        #expect(breaker.state(of: trafficOrigin) == .open(remaining: .seconds(5)))
        return breaker
    }

    @Test("an open circuit refuses at once: nothing is sent, and the error and its trace say why and until when")
    func refusal() async throws {
        let clock = ManualClock()
        let breaker = try await Self.opened(clock)
        let transport = ScriptedTransport(clock: clock)
        clock.advance(by: .seconds(2))
        do {
            _ = try await Ping.post.schedule(with: Self.service(breaker, clock, transport))
            Issue.record("the call went through")
        } catch {
            #expect(error.kind == .refused(.circuitOpen(nextProbe: .seconds(3))))
            #expect((error.stage, error.delivery, error.retryAfter) == (.intercept, .notSent, .seconds(3)))
            let why = "not sent: the circuit is open, the next probe may go in 3 s"
            #expect(error.description == "POST https://api.example.com/things failed: \(why)")
            #expect(error.trace.description.contains("\(why), in intercept, after 0 ms (notSent)"))
        }
        #expect(transport.count == 0)
    }

    @Test("the pause is waited for by a backoff into whose cap it fits, and the call succeeds as the probe")
    func backoffWaits() async throws {
        try await simulate { simulation in
            let breaker = Self.breaker(simulation.clock)
            let transport = ScriptedTransport(.status(503), .status(503), .reply(text: "ok"), clock: simulation.clock)
            let service = Self.service(breaker, simulation.clock, transport, retrier: steadyBackoff())
            let response = try await Ping.get.response(with: service)
            #expect(transport.attempts.map(\.start) == [.zero, .milliseconds(500), .milliseconds(5_500)])
            let reasons = response.trace.attempts.map { $0.decision?.reason }
            #expect(reasons == [.backoff(retry: 1), .backoff(retry: 2), .circuitOpen(.seconds(4)), nil])
            #expect(breaker.state(of: trafficOrigin) == .closed)
        }
    }

    @Test(
        "a pause over the backoff's cap, or past the deadline, is not waited for",
        arguments: [
            (
                Duration?.none, Duration.seconds(4),
                "not sent: the circuit is open, the next probe may go in 5 s, over the cap of 4 s"
            ),
            (Duration.seconds(5), .seconds(60), "only 5 s left until the deadline"),
        ]
    )
    func backoffRefuses(deadline: Duration?, cap: Duration, reason: String) async throws {
        let clock = ManualClock()
        let breaker = try await Self.opened(clock)
        let transport = ScriptedTransport(clock: clock)
        let retrier = BackoffRetrier.factory(.standard.with { $0.retryAfterCap = cap })
        do {
            let service = Self.service(breaker, clock, transport, retrier: retrier)
            _ = try await Ping(deadline: deadline).schedule(with: service)
            Issue.record("the call went through")
        } catch {
            #expect(error.trace.attempts.map { $0.decision?.reason?.description } == [reason])
        }
        #expect(transport.count == 0)
    }

    @Test(
        "C13: calls that run out of time in a queue for a connection do not open it; those that a silent server gets do",
        arguments: [true, false]
    )
    func queue(isQueued: Bool) async throws {
        let state = try await simulate { simulation in
            let clock = simulation.clock
            let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 5), clock: clock)
            let transport = SilentTransport(clock: clock, wait: isQueued ? .seconds(3) : .zero)
            let service = Self.service(breaker, clock, transport)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = try? await Ping(deadline: .seconds(5)).schedule(with: service) }
                }
            }
            return breaker.state(of: trafficOrigin)
        }
        #expect((state == .closed) == isQueued)
    }

    @Test("a refusal closes no gate: it is no order of the server")
    func gate() async throws {
        let clock = ManualClock()
        let breaker = try await Self.opened(clock)
        let pauses = OriginPauses(clock: clock)
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.maxAttempts = 1
                $0.gate = pauses
            }
        )
        let service = Self.service(breaker, clock, ScriptedTransport(clock: clock), retrier: retrier)
        await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        #expect(pauses.remainingPause(of: trafficOrigin) == .zero)
    }

    @Test("after the pause, one of a hundred requests probes, and its success lets the others go")
    func oneProbe() async throws {
        for seed in 0..<25 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let breaker = try await Self.opened(simulation.clock)
                try await simulation.clock.sleep(for: .seconds(5))
                let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            await breaker.outcome(of: try .test()) {
                                try await simulation.clock.sleep(for: .seconds(1))
                                return .test()
                            }
                        }
                    }
                    return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                }
                #expect(outcomes == ["200": 1, "refused: the circuit is open, and its probe under way": 99])
                #expect(await breaker.outcome(of: try .test()) { .test() } == "200")
            }
        }
    }

    @Test("a cancelled probe frees its place at once, and counts for nothing")
    func cancelledProbe() async throws {
        let clock = ManualClock()
        let breaker = try await Self.opened(clock)
        clock.advance(by: .seconds(5))
        let probe = Task {
            await breaker.outcome(of: try .test()) {
                try await clock.sleep(for: .seconds(9)); return .test()
            }
        }
        try await clock.waitForSleepers(count: 1)
        #expect(breaker.state(of: trafficOrigin) == .halfOpen(isProbing: true))
        probe.cancel()
        #expect(try await probe.value == "cancelled")
        #expect(breaker.state(of: trafficOrigin) == .halfOpen(isProbing: false))
        #expect(await breaker.outcome(of: try .test()) { .test() } == "200")
        #expect(breaker.state(of: trafficOrigin) == .closed)
    }

    @Test("the events tell every change in order, the pauses growing up to their cap")
    func events() async throws {
        let clock = ManualClock()
        let breaker = Self.breaker(clock, cap: .seconds(12))
        var events = breaker.events.makeAsyncIterator()
        for _ in 1...2 { _ = await breaker.outcome(of: try .test()) { .test(500) } }
        for pause in [5, 10, 12] {
            clock.advance(by: .seconds(pause))
            _ = await breaker.outcome(of: try .test()) { .test(pause < 12 ? 500 : 200) }
        }
        let expected: [CircuitEvent.Change] = [
            .opened(pause: .seconds(5)), .probed, .opened(pause: .seconds(10)), .probed, .opened(pause: .seconds(12)),
            .probed, .closed,
        ]
        for change in expected { #expect(await events.next() == CircuitEvent(origin: trafficOrigin, change: change)) }
    }

    @Test(
        "the pause is drawn between a half and the whole, and never nothing",
        arguments: [(0.0, 2_500), (1.0, 5_000)]
    )
    func jitter(fraction: Double, milliseconds: Int) async throws {
        let (clock, random) = (ManualClock(), FixedRandomSource(fraction))
        let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 1), clock: clock, random: random)
        _ = await breaker.outcome(of: try .test()) { .test(500) }
        #expect(breaker.state(of: trafficOrigin) == .open(remaining: .milliseconds(milliseconds)))
        #expect(random.drawCount == 1)
        let none = CircuitBreaker(
            limits: CircuitLimits(minimumThroughput: 1, pause: .constant(.zero)),
            clock: clock,
            random: random
        )
        _ = await none.outcome(of: try .test()) { .test(500) }
        #expect(none.state(of: trafficOrigin) == .open(remaining: .milliseconds(1)))
    }

    @Test("each origin has a circuit of its own, and a URL without an origin passes")
    func origins() async throws {
        let breaker = try await Self.opened(ManualClock())
        #expect(await breaker.outcome(of: try .test("https://api.example.com:8443/")) { .test() } == "200")
        #expect(await breaker.outcome(of: try .test("things")) { .test() } == "200")
        #expect(
            await breaker.outcome(of: try .test()) { .test() }
                == "refused: the circuit is open, the next probe may go in 5 s"
        )
    }

    @Test("limits that make no sense are cut to ones that do")
    func limits() {
        let silly = CircuitLimits(failureRate: -1, minimumThroughput: 0, window: .seconds(-1))
        #expect((silly.failureRate, silly.minimumThroughput, silly.window) == (0.01, 1, .milliseconds(1)))
        #expect(CircuitLimits(failureRate: 2).failureRate == 1)
        #expect(CircuitLimits(failureRate: .nan).failureRate == 0.5)
        #expect(CircuitLimits(window: .seconds(Int64.max)).window < .seconds(Int64.max))
    }
}

/// Has every request queue for a connection, and never answers.
private struct SilentTransport: HttpTransport {
    let clock: ManualClock
    let wait: Duration

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        context.beginWaitingForConnection()
        if wait > .zero { try await clock.sleep(for: wait) }
        context.endWaitingForConnection()
        try await clock.sleep(for: .seconds(1_000))
        return .test()
    }
}
