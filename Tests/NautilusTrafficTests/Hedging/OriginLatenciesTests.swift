import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("Usual latencies and retries that cannot finish")
struct OriginLatenciesTests {
    private let clock = ManualClock()

    private func latencies(_ milliseconds: Int..., minimumCount: Int = 1) throws -> OriginLatencies {
        let latencies = OriginLatencies(minimumCount: minimumCount, clock: clock)
        for latency in milliseconds { latencies.record(.milliseconds(latency), of: try testOrigin()) }
        return latencies
    }

    @Test("the median is what half of the samples have not exceeded, in whichever order they came")
    func median() throws {
        #expect(try latencies().median(of: testOrigin()) == nil)
        #expect(try latencies(7).median(of: testOrigin()) == .milliseconds(7))
        #expect(try latencies(9, 1).median(of: testOrigin()) == .milliseconds(1))
        #expect(try latencies(9, 1, 5).median(of: testOrigin()) == .milliseconds(5))
        #expect(try latencies(1000, 9, 1, 5).median(of: testOrigin()) == .milliseconds(5))
    }

    @Test("too few samples tell nothing, and another origin's do not count")
    func tooFew() throws {
        let latencies = try latencies(1, 2, 3, minimumCount: 4)
        #expect(try latencies.median(of: testOrigin()) == nil)
        latencies.record(.seconds(1), of: try testOrigin("https://other.test"))
        #expect(try latencies.median(of: testOrigin()) == nil)
        latencies.record(.milliseconds(4), of: try testOrigin())
        #expect(try latencies.median(of: testOrigin()) == .milliseconds(2))
    }

    @Test("a sample counts for a minute, to the nanosecond")
    func age() throws {
        let latencies = try latencies(5)
        clock.advance(by: .seconds(60))
        #expect(try latencies.median(of: testOrigin()) == .milliseconds(5))
        clock.advance(by: .nanoseconds(1))
        #expect(try latencies.median(of: testOrigin()) == nil)
    }

    @Test("only the latest hundred latencies of an origin count")
    func latest() throws {
        let latencies = try latencies()
        for latency in 1...1000 { latencies.record(.milliseconds(latency), of: try testOrigin()) }
        #expect(try latencies.median(of: testOrigin()) == .milliseconds(950))
    }

    /// A call to a server that takes 400 ms, and fails at first: 10 calls have gone before, to learn from.
    private func retry(deadline: Duration?, learning: Bool = true) async throws -> Outcome {
        try await simulate { simulation in
            let clock = simulation.clock
            let budget = QuotaBudget()
            let latencies = OriginLatencies(clock: clock)
            let isFailing = Locked(false)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.milliseconds(100), jitter: .none)
                        $0.budget = .shared(budget)
                        $0.latencies = learning ? latencies : nil
                    }
                ),
                transport: ScriptedTransport(clock: clock) { _, context in
                    let isBad = isFailing.withLock { $0 } && context.number == 1
                    return .delay(.milliseconds(isBad ? 50 : 400), then: isBad ? .status(503) : .reply(text: "ok"))
                },
                clock: clock
            )
            for _ in 1...10 { _ = try await Ping.get.schedule(with: service) }
            isFailing.withLock { $0 = true }
            let start = clock.now
            let outcome: Outcome
            do throws(HttpError) {
                let response = try await Ping(deadline: deadline).response(with: service)
                outcome = Outcome(response: response, error: nil, end: start.duration(to: clock.now))
            } catch {
                outcome = Outcome(response: nil, error: error, end: start.duration(to: clock.now))
            }
            // A retry that is not made is not paid for, and one that succeeds is given back.
            #expect(budget.balance == (outcome.error != nil && outcome.attempts == 2 ? 486 : 500))
            return outcome
        }
    }

    @Test("a retry that has less time than attempts usually take is not made, and the real error surfaces")
    func cannotFinish() async throws {
        // 50 ms have gone with the first attempt, 100 ms would go with the delay.
        let outcome = try await retry(deadline: .nanoseconds(549_999_999))
        #expect(outcome.error?.kind == .status(503))
        #expect(outcome.end == .milliseconds(50))
        #expect(
            outcome.lastReason == .cannotFinish(remaining: .nanoseconds(399_999_999), usual: .milliseconds(400))
        )
    }

    @Test("a retry with just enough time, or without a deadline, is made")
    func canFinish() async throws {
        for deadline in [Duration.nanoseconds(550_000_001), nil] {
            let outcome = try await retry(deadline: deadline)
            #expect(outcome.response?.body == "ok")
            #expect(outcome.end == .milliseconds(550))
        }
    }

    @Test("a first attempt is always made, however little time it has: somebody has to find out")
    func firstAttempt() async throws {
        let outcome = try await retry(deadline: .milliseconds(10))
        #expect(outcome.error?.kind == .deadline(.milliseconds(10)))
        #expect(outcome.error?.delivery == .maybeExecuted)
    }

    @Test("without latencies, a retry that begins before the deadline is made")
    func notAsked() async throws {
        let outcome = try await retry(deadline: .milliseconds(200), learning: false)
        #expect(outcome.attempts == 2)
        #expect(outcome.error?.kind == .deadline(.milliseconds(200)))
    }

    @Test("a latency is that of the exchange, without the wait for the gate before it")
    func measured() async throws {
        let latencies = try await simulate { simulation in
            let clock = simulation.clock
            let latencies = OriginLatencies(minimumCount: 1, clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(
                    .atOnce.with {
                        $0.latencies = latencies
                        $0.gate = OriginPauses(clock: clock)
                    }
                ),
                transport: ScriptedTransport(
                    .status(503, header: [.retryAfter: "7"]),
                    .delay(.milliseconds(30), then: .reply(text: "ok")),
                    clock: clock
                ),
                clock: clock
            )
            _ = try await Ping.get.schedule(with: service)
            return latencies
        }
        #expect(try latencies.median(of: testOrigin()) == .milliseconds(30))
    }
}
