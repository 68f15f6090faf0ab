import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A budget bounds the retries of all calls")
struct BackoffBudgetTests {
    /// A budget that counts what it is told, and grants the first so many retries.
    private final class Recording: RetryBudget {
        let log = Locked<[String]>([])
        private let left: Locked<Int>

        init(granting count: Int = .max) { left = Locked(count) }

        var entries: [String] { log.withLock { $0 } }

        func withdraw(_ reason: RetryCost.Reason) -> Bool {
            let isGranted = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            log.withLock { $0.append(isGranted ? "\(reason)" : "refused") }
            return isGranted
        }

        func deposit(refunding reason: RetryCost.Reason?) {
            log.withLock { $0.append("deposit, \(reason.map { "\($0)" } ?? "no retry")") }
        }
    }

    @Test("a refused retry is not made, the real error surfaces, and the trace says why")
    func refusal() async throws {
        let transport = ScriptedTransport(.status(503), .status(502), .reply(text: "never"))
        let budget = Recording(granting: 1)
        let outcome = try await outcome(of: Ping.get, retrier: steadyBackoff(budget: .shared(budget)), transport)
        #expect(outcome.error?.kind == .status(502))
        #expect(outcome.lastReason == .budget)
        #expect(outcome.delays == [.milliseconds(500)])
        #expect(outcome.end == .milliseconds(500))
        #expect(transport.count == 2)
        #expect(budget.entries == ["failure", "refused"])
    }

    @Test("a retry that is refused for another reason costs the budget nothing")
    func freeRefusals() async throws {
        let budget = Recording()
        let retrier = steadyBackoff(maxAttempts: 1, budget: .shared(budget))
        _ = try await outcome(of: Ping.get, retrier: retrier, ScriptedTransport(.status(503)))
        _ = try await outcome(of: Ping.get, retrier: retrier, ScriptedTransport(.status(404)))
        let patient = steadyBackoff(budget: .shared(budget))
        _ = try await outcome(of: Ping.post, retrier: patient, ScriptedTransport(.status(500)))
        let late = ScriptedTransport(.status(503), .reply(text: "never"))
        let outcome = try await outcome(of: Ping(deadline: .milliseconds(500)), retrier: patient, late)
        #expect(outcome.lastReason == .deadline(remaining: .milliseconds(500)))
        #expect(budget.entries == [])
    }

    @Test("a success is deposited once, with the reason of the last retry")
    func deposits() async throws {
        let cases: [([Int], [String])] = [
            ([200], ["deposit, no retry"]),
            ([500, 200], ["failure", "deposit, failure"]),
            ([500, 429, 200], ["failure", "throttling", "deposit, throttling"]),
            ([404], []),
            ([500, 404], ["failure"]),
        ]
        for (statuses, entries) in cases {
            let budget = Recording()
            let transport = ScriptedTransport { _, context in .status(statuses[context.number - 1]) }
            _ = try await outcome(of: Ping.get, retrier: steadyBackoff(budget: .shared(budget)), transport)
            #expect(budget.entries == entries)
        }
    }

    @Test(
        "a retry after no network is free: it is the first that reaches the server",
        arguments: [
            URLError.Code.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive,
        ]
    )
    func offline(code: URLError.Code) async throws {
        let budget = Recording(granting: 0)
        let transport = ScriptedTransport(.fail(code, delivery: .notSent), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, retrier: steadyBackoff(budget: .shared(budget)), transport)
        #expect(outcome.response?.body == "ok")
        #expect(budget.entries == ["deposit, no retry"])
    }

    @Test("a refused connection has reached the server, so its retry costs a token")
    func refusedConnection() async throws {
        let budget = Recording()
        let transport = ScriptedTransport(.fail(.cannotConnectToHost, delivery: .notSent), .reply(text: "ok"))
        _ = try await outcome(of: Ping.get, retrier: steadyBackoff(budget: .shared(budget)), transport)
        #expect(budget.entries == ["failure", "deposit, failure"])
    }

    @Test("by default the calls of a process share five retries per origin, however often the service is made anew")
    func perOrigin() async throws {
        // An origin of this test alone, since the budgets are the process's.
        let origin = "https://\(UUID().uuidString.lowercased()).test"
        let reasons = await Self.tenFailures(at: origin, clock: ManualClock())
        #expect(reasons == Self.fiveRetries)
        let budget = try #require(OriginBudgets.shared.budget(of: testOrigin(origin)) as? TokenBucketBudget)
        #expect(budget.balance == 5)
    }

    @Test("a simulation has default budgets and latencies of its own, so that each has the same course")
    func simulations() async throws {
        let origin = try testOrigin("https://busy.test")
        for _ in 1...2 {
            let (reasons, latency) = try await simulate { simulation in
                let earlier = OriginLatencies.shared.median(of: origin)
                for _ in 1...10 { OriginLatencies.shared.record(.seconds(1), of: origin) }
                return (await Self.tenFailures(at: "https://busy.test", clock: simulation.clock), earlier)
            }
            #expect(reasons == Self.fiveRetries)
            #expect(latency == nil)
        }
        #expect(OriginLatencies.shared.median(of: origin) == nil)
    }

    private static let fiveRetries: [RetryReason?] =
        Array(repeating: .attemptsUsed(2), count: 5) + Array(repeating: .budget, count: 5)

    /// Why ten calls in a row, each with a service of its own, are not sent again.
    private static func tenFailures(at origin: String, clock: ManualClock) async -> [RetryReason?] {
        var reasons: [RetryReason?] = []
        for _ in 0..<10 {
            let service = AnyHttpService(
                apiUrl: origin,
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.maxAttempts = 2
                        $0.backoff = .constant(.zero)
                    }
                ),
                transport: ScriptedTransport(.status(503), .status(503)),
                clock: clock
            )
            do throws(HttpError) {
                _ = try await Ping.get.schedule(with: service)
            } catch {
                reasons.append(error.trace.attempts.last?.decision?.reason)
            }
        }
        return reasons
    }

    @Test("budgets per origin know the request's origin, and one budget for all does not ask")
    func scopes() async throws {
        let (budgets, shared) = (OriginBudgets { _ in QuotaBudget(capacity: 14) }, QuotaBudget(capacity: 14))
        let scopes: [(RetryBudgetScope, Int)] = [(.perOrigin(in: budgets), 2), (.shared(shared), 1), (.unlimited, 4)]
        for (scope, retries) in scopes {
            var count = 0
            for url in ["https://one.test", "https://two.test", "https://one.test", "https://two.test"] {
                let transport = ScriptedTransport(.status(503), .status(503))
                _ = try await outcome(
                    of: Ping(url: url),
                    retrier: steadyBackoff(maxAttempts: 2, budget: scope),
                    transport
                )
                count += transport.count - 1
            }
            #expect(count == retries)
        }
    }
}
