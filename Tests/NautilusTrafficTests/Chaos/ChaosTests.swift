import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Chaos", .endsInTime)
struct ChaosTests {
    /// A failure, an answer and a dropped answer, each for a fifth of what is left.
    private static func chaos(seed: UInt64) -> Chaos {
        Chaos(
            seed: seed,
            .failure(rate: 0.2),
            .answer(status: 503, rate: 0.2),
            .droppedAnswer(rate: 0.2),
            isOn: true
        )
    }

    /// The outcomes of so many requests, and how many of them the server has seen.
    private func outcomes(_ chaos: Chaos, _ count: Int) async -> (outcomes: [String], sent: Int) {
        let sent = Counter()
        var outcomes: [String] = []
        for _ in 0..<count {
            let outcome = await chaos.outcome(of: trafficRequest) {
                sent.increment()
                return .test()
            }
            outcomes.append(outcome)
        }
        return (outcomes, sent.value)
    }

    private static let refused = "connection refused, or the host is unreachable (URLError -1004)"
    private static let lost = "connection lost (URLError -1005)"

    @Test("Chaos is off by default, and off again when it is switched off")
    func off() async {
        let chaos = Chaos(seed: 1, .failure(rate: 1))
        #expect(await outcomes(chaos, 3) == (["200", "200", "200"], 3))
        chaos.isOn = true
        #expect(await outcomes(chaos, 1) == ([Self.refused], 0))
        chaos.isOn = false
        #expect(await outcomes(chaos, 1) == (["200"], 1))
        #expect(await outcomes(Chaos(seed: 1, isOn: true), 3) == (["200", "200", "200"], 3))
    }

    @Test("the same seed makes the same trouble for a request's number, another seed other trouble")
    func deterministic() async {
        let first = await outcomes(Self.chaos(seed: 7), 100)
        #expect(await outcomes(Self.chaos(seed: 7), 100) == first)
        #expect(await outcomes(Self.chaos(seed: 8), 100).outcomes != first.outcomes)
        #expect(Set(first.outcomes) == ["200", "503", Self.refused, Self.lost])
    }

    @Test("only those that come while it is on have a number: what happens to the next does not depend on the others")
    func numbers() async {
        let expected = await outcomes(Self.chaos(seed: 7), 20).outcomes
        let flicked = Self.chaos(seed: 7)
        var found: [String] = []
        for _ in 0..<20 {
            found += await outcomes(flicked, 1).outcomes
            flicked.isOn = false
            _ = await outcomes(flicked, 3)
            flicked.isOn = true
        }
        #expect(found == expected)
    }

    @Test("each fault strikes as often as its rate says, of those that the faults before it have left")
    func rates() async {
        let (outcomes, sent) = await outcomes(Self.chaos(seed: 5), 10_000)
        let counts = outcomes.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        // A fifth of 10 000, of the 8 000 left, and of the 6 400 left, give or take what chance does: one sigma is 40.
        #expect(counts == [Self.refused: 1_982, "503": 1_589, Self.lost: 1_294, "200": 5_135])
        #expect(sent == 1_294 + 5_135)
    }

    @Test(
        "rates that make no sense are cut to ones that do",
        arguments: [
            (-1.0, 0.0), (-.infinity, 0), (.nan, 0), (0, 0), (0.5, 0.5), (1, 1), (1.5, 1), (.infinity, 1),
        ] as [(Double, Double)]
    )
    func sillyRates(rate: Double, expected: Double) {
        #expect(ChaosFault.failure(rate: rate).rate == expected)
        #expect(ChaosFault.droppedAnswer(rate: rate).rate == expected)
    }

    @Test("a rate of 0 never strikes, and one of 1 always")
    func certain() async {
        let never = Chaos(seed: 1, .failure(rate: 0), .answer(status: 500, rate: -1), isOn: true)
        #expect(await Set(outcomes(never, 1_000).outcomes) == ["200"])
        let always = Chaos(seed: 1, .answer(status: 418, rate: 1), isOn: true)
        #expect(await Set(outcomes(always, 1_000).outcomes) == ["418"])
    }

    @Test(
        "a failure is the network's own, says what a transport would of the delivery, and whose doing it is",
        arguments: [
            (URLError.Code.cannotConnectToHost, Delivery.notSent), (.networkConnectionLost, .maybeExecuted),
            (.timedOut, .maybeExecuted), (.notConnectedToInternet, .notSent),
        ]
    )
    func failures(code: URLError.Code, delivery: Delivery) async throws {
        let transport = ScriptedTransport()
        let chaos = Chaos(seed: 9, .failure(code, rate: 1), isOn: true)
        let outcome = try await outcome(of: Ping.post, retrier: .never, interceptors: [chaos], transport)
        #expect(outcome.error?.kind == .transport(code))
        #expect((outcome.error?.stage, outcome.error?.delivery) == (.intercept, delivery))
        #expect(outcome.error?.underlying as? Chaos.Failure == .init(seed: 9, number: 1))
        #expect(outcome.error?.description.hasSuffix("made by Chaos, request 1 of seed 9") == true)
        #expect(transport.count == 0)
    }

    @Test("an answer is marked, has the header it was given, and comes from nowhere")
    func answers() async throws {
        let chaos = Chaos(seed: 9, .answer(status: 429, header: ["Retry-After": "2"], rate: 1), isOn: true)
        let response = try await chaos.intercept(trafficRequest, context: .test(), next: .init { _ in .test() })
        #expect((response.status, response.url) == (429, nil))
        #expect(response.header == ["Retry-After": "2", "X-Chaos": "request 1 of seed 9"])
    }

    @Test("after a dropped answer the server has acted: a POST is not repeated, a GET is", arguments: [0, 1, 2])
    func droppedAnswers(index: Int) async throws {
        let (call, sent) = [(Ping.post, 1), (Ping.get, 4), (Ping.keyedPost, 4)][index]
        let transport = ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
        let chaos = Chaos(seed: 1, .droppedAnswer(rate: 1), isOn: true)
        let outcome = try await outcome(of: call, interceptors: [chaos], transport)
        #expect(outcome.error?.kind == .transport(.networkConnectionLost))
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(transport.count == sent)
    }

    @Test("delays sleep on the clock, within their range, and add up")
    func delays() async throws {
        let clock = ManualClock()
        let chaos = Chaos(
            seed: 1,
            .delay(.seconds(1) ... .seconds(3), rate: 1),
            .delay(.seconds(5) ... .seconds(5), rate: 1),
            .delay(.seconds(-3) ... .seconds(-1), rate: 1),
            isOn: true,
            clock: clock
        )
        let call = Task { await chaos.outcome(of: trafficRequest) { .test() } }
        for count in 1...2 {
            try await clock.waitForSleepers(count: 1)
            #expect(clock.sleeps.count == count)
            clock.advance(by: .seconds(5))
        }
        #expect(await call.value == "200")
        #expect((.seconds(1) ... .seconds(3)).contains(clock.sleeps[0]))
        #expect(clock.sleeps[1...] == [.seconds(5), .zero])
    }

    @Test("a call that is cancelled during a delay ends at once, and is not sent")
    func cancelled() async throws {
        let clock = ManualClock()
        let chaos = Chaos(seed: 1, .delay(.seconds(9) ... .seconds(9), rate: 1), isOn: true, clock: clock)
        let sent = Counter()
        let call = Task {
            await chaos.outcome(of: trafficRequest) {
                sent.increment()
                return .test()
            }
        }
        try await clock.waitForSleepers(count: 1)
        call.cancel()
        #expect(await call.value == "cancelled")
        #expect(sent.value == 0)
    }

    @Test("a breaker outside of it takes its failures for the server's")
    func breaker() async throws {
        let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 2), clock: ManualClock())
        let chaos = Chaos(seed: 1, .failure(rate: 1), isOn: true)
        for _ in 1...2 {
            let next = AttemptContext.Next { request in
                try await chaos.intercept(request, context: .test(), next: .init { _ in .test() })
            }
            _ = try? await breaker.intercept(trafficRequest, context: .test(), next: next)
        }
        #expect(breaker.state(of: trafficOrigin) != .closed)
    }
}
