import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("The attempts that are hedged, and their cost")
struct HedgeRulesTests {
    private static let delay = Duration.milliseconds(100)

    // MARK: Requests

    @Test(
        "a request that may be repeated is hedged, one that may not is not",
        arguments: [
            (.get, nil), (Ping(method: .head), nil), (Ping(method: .put), nil), (Ping(method: .delete), nil),
            (.keyedPost, nil),
            (.post, .notIdempotent), (Ping(method: .patch), .notIdempotent),
            (Ping(allowsHedging: false), .notAllowed),
            (Ping(method: .put, body: .stream { AsyncThrowingStream { $0.finish() } }), .streamedBody),
        ] as [(Ping, CallTrace.Hedge.Reason?)]
    )
    func requests(request: Ping, reason: CallTrace.Hedge.Reason?) async throws {
        let call = try await hedged(request, .ok("first", after: 150), .ok("second", after: 10))
        #expect(call.outcome.response?.body == (reason == nil ? "second" : "first"))
        #expect(call.sends.count == (reason == nil ? 2 : 1))
        #expect(call.hedge == reason.map { .notSent($0) } ?? .sent(after: Self.delay, winner: .second))
    }

    @Test("the trace says nothing about hedging if a request was quick and would not have been hedged")
    func quickPost() async throws {
        #expect(try await hedged(.post, .ok(after: 99)).hedge == nil)
        #expect(try await hedged(.post, .ok(after: 100)).hedge == .notSent(.notIdempotent))
    }

    @Test("a key that an interceptor has given makes a POST repeatable")
    func keys() async throws {
        let call = try await hedged(.post, .hang, .ok(after: 10), interceptors: [IdempotencyKeys { "drawn" }])
        #expect(call.sends.map { $0.header["Idempotency-Key"] } == ["drawn", "drawn"])
    }

    // MARK: Budget

    @Test("a hedge costs as much as a retry, and what succeeds is deposited once, whoever keeps the budget")
    func quota() async throws {
        for retrier in [true, false] {
            let budget = QuotaBudget(capacity: 500, initial: 400)
            let factory = retrier ? steadyBackoff(budget: .shared(budget)) : .never
            let composed = AnyRetrierFactory.composed(.never, factory)
            for factory in [factory, composed] {
                let before = budget.balance
                // Not slow: nothing is withdrawn, and one is given.
                _ = try await hedged(.get, .ok(after: 10), budget: .shared(budget), retrier: factory)
                #expect(budget.balance == before + 1)
                // 14 are withdrawn, and given back.
                _ = try await hedged(.get, .hang, .ok(after: 10), budget: .shared(budget), retrier: factory)
                #expect(budget.balance == before + 1)
                // Both fail.
                _ = try await hedged(.get, .status(404, after: 150), .status(500, after: 90), budget: .shared(budget))
                _ = try await hedged(.get, .lost(after: 150), .lost(after: 90), budget: .shared(budget))
                #expect(budget.balance == before + 1 - 14 - 14)
            }
        }
    }

    @Test("a retrier with a budget of its own deposits there, and hedging in its own")
    func twoBudgets() async throws {
        let (retries, hedges) = (QuotaBudget(initial: 100), QuotaBudget(initial: 100))
        let retrier = steadyBackoff(budget: .shared(retries))
        _ = try await hedged(.get, .hang, .ok(after: 10), budget: .shared(hedges), retrier: retrier)
        #expect(retries.balance == 101)
        #expect(hedges.balance == 100)
        _ = try await hedged(.post, .ok(after: 10), budget: .shared(hedges), retrier: retrier)
        #expect(hedges.balance == 101)
    }

    @Test("a budget that is used up sends nothing twice, and the trace says so")
    func refused() async throws {
        let budget = TokenBucketBudget(capacity: 10)
        for _ in 1...5 {
            let failure = ScriptedReply.status(500, after: 150)
            let call = try await hedged(.get, failure, failure, budget: .shared(budget))
            #expect(call.sends.count == 2)
        }
        #expect(budget.balance == 5)
        let call = try await hedged(.get, .ok(after: 150), budget: .shared(budget))
        #expect(call.outcome.response?.body == "ok")
        #expect(call.ends == ["200"])
        #expect(call.hedge == .notSent(.budget))
        #expect(budget.balance == 5.2)
    }

    // MARK: Never make it worse

    @Test("while the origin has ordered a pause, nothing is sent twice, and nothing is paid")
    func pause() async throws {
        let budget = QuotaBudget()
        for (pause, isSent) in [(Duration.milliseconds(100), true), (.nanoseconds(100_000_001), false)] {
            let call = try await hedged(
                .get,
                .ok(after: 150),
                .hang,
                budget: .shared(budget),
                gate: { clock in
                    let pauses = OriginPauses(clock: clock)
                    if let origin = try? testOrigin() { pauses.close(origin, for: pause) }
                    return pauses
                }
            )
            #expect(call.sends.count == (isSent ? 2 : 1))
            if !isSent { #expect(call.hedge == .notSent(.pause(.nanoseconds(1)))) }
        }
        #expect(budget.balance == 500)
    }

    @Test(
        "a second send is not made if less time is left than attempts usually take",
        arguments: [
            (Ping(deadline: .milliseconds(150)), true), (Ping(deadline: .nanoseconds(149_999_999)), false),
            (Ping(timeout: .milliseconds(150)), true), (Ping(timeout: .nanoseconds(149_999_999)), false),
        ]
    )
    func cannotFinish(request: Ping, isSent: Bool) async throws {
        let latencies = OriginLatencies(minimumCount: 1, clock: ManualClock())
        latencies.record(.milliseconds(50), of: try testOrigin())
        let call = try await hedged(request, .hang, .hang, latencies: latencies)
        #expect(call.sends.count == (isSent ? 2 : 1))
        if !isSent {
            let reason = CallTrace.Hedge.Reason.cannotFinish(
                remaining: .nanoseconds(49_999_999),
                usual: .milliseconds(50)
            )
            #expect(call.hedge == .notSent(reason))
        }
    }

    @Test("a hedge takes a slot that is free, or is not made; the slot is free again when its send has ended")
    func slots() async throws {
        for slots in [1, 2] {
            let limit = ConcurrencyLimit(slots)
            let call = try await hedged(.get, .ok("first", after: 150), .ok("second", after: 10), interceptors: [limit])
            #expect(call.sends.count == slots)
            if slots == 1 { #expect(call.hedge == .notSent(.heldBack(by: "ConcurrencyLimit"))) }
            #expect(limit.underWayCount(to: try testOrigin()) == 0)
        }
    }

    @Test("a slot that one interceptor gives a hedge is given back when another one refuses")
    func givenBack() async throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 1, pause: .constant(.zero)), clock: clock)
        let limit = ConcurrencyLimit(2)
        _ = await breaker.outcome(of: trafficRequest) { .test(503) }
        clock.advance(by: .seconds(1))
        #expect(breaker.state(of: trafficOrigin) == .halfOpen(isProbing: false))
        let budget = QuotaBudget()
        // The call is the probe, which stays one request.
        let call = try await hedged(
            .get,
            .ok(after: 150),
            budget: .shared(budget),
            interceptors: [limit, breaker]
        )
        #expect(call.hedge == .notSent(.heldBack(by: "CircuitBreaker")))
        #expect(limit.underWayCount(to: trafficOrigin) == 0)
        #expect(breaker.state(of: trafficOrigin) == .closed)
        #expect(budget.balance == 500)
    }

    @Test("pacing counts a hedge as another request: with one left it is not made")
    func pacing() async throws {
        for (left, count) in [(2, 2), (1, 1)] {
            let clock = ManualClock()
            let pacing = Pacing(clock: clock)
            let header: HttpHeader = ["RateLimit": "\"a\";r=\(left);t=60", "RateLimit-Policy": "\"a\";q=9;w=60"]
            #expect(await pacing.outcome(of: trafficRequest) { .test(header: header) } == "200")
            let call = try await hedged(.get, .ok(after: 150), .ok(after: 100), interceptors: [pacing])
            #expect(call.sends.count == count)
            if count == 1 { #expect(call.hedge == .notSent(.heldBack(by: "Pacing"))) }
        }
    }

    // MARK: Slowness

    @Test("an attempt counts as slow after the time that nineteen of twenty have not exceeded")
    func observed() async throws {
        let latencies = OriginLatencies(clock: ManualClock())
        for latency in 1...100 { latencies.record(.milliseconds(latency), of: try testOrigin()) }
        let slow = try await hedged(.get, .hang, .ok(after: 10), after: .observed(), latencies: latencies)
        #expect(slow.hedge == .sent(after: .milliseconds(95), winner: .second))
        let half = try await hedged(.get, .hang, .ok(after: 10), after: .observed(quantile: 0.5), latencies: latencies)
        // The shortest of the hundred has given way to the one before, which took 105 ms in all.
        #expect(half.hedge == .sent(after: .milliseconds(51), winner: .second))
        let floor = Hedging.Delay.observed(quantile: 0, atLeast: .milliseconds(7))
        let soon = try await hedged(.get, .hang, .ok(after: 1), after: floor, latencies: latencies)
        #expect(soon.hedge == .sent(after: .milliseconds(7), winner: .second))
    }

    @Test("while nobody knows what is slow, the fallback holds; without one nothing is sent twice")
    func fallback() async throws {
        let fallback = Hedging.Delay.observed(fallback: .milliseconds(30))
        var call = try await hedged(.get, .hang, .ok(after: 10), after: fallback)
        #expect(call.hedge == .sent(after: .milliseconds(30), winner: .second))
        call = try await hedged(.get, .ok(after: 10), after: .observed())
        #expect(call.hedge == .notSent(.tooFewSamples))
    }

    @Test("each success is noted once, also when the retrier has the same latencies")
    func notedOnce() async throws {
        for sharing in [true, false] {
            let latencies = OriginLatencies(minimumCount: 2, clock: ManualClock())
            let retrier = BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.latencies = sharing ? latencies : nil
                }
            )
            _ = try await hedged(.get, .ok(after: 10), latencies: latencies, retrier: retrier)
            #expect(latencies.median(of: try testOrigin()) == nil)
            _ = try await hedged(.get, .ok(after: 20), latencies: latencies, retrier: retrier)
            #expect(latencies.median(of: try testOrigin()) != nil)
        }
    }

    @Test("the latency of a hedged attempt is counted from its first send")
    func latency() async throws {
        let latencies = OriginLatencies(minimumCount: 1, clock: ManualClock())
        _ = try await hedged(.get, .hang, .ok(after: 10), latencies: latencies)
        #expect(latencies.median(of: try testOrigin()) == .milliseconds(110))
        _ = try await hedged(.post, .ok(after: 1), latencies: latencies)
        _ = try await hedged(.get, .status(404, after: 1), latencies: latencies)
        #expect(latencies.median(of: try testOrigin()) == .milliseconds(110))
    }
}
