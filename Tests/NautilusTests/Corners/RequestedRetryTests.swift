import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Retries that a server asks for with Retry-After")
struct RequestedRetryTests {
    /// The calls of one client, and what the server saw of them.
    private struct Run {
        var succeeded = 0
        var sends = 0
        var balance = 0.0
    }

    /// Makes calls to `server`, with the default retrier but for a budget of its own.
    private func run(
        _ calls: Int,
        every interval: Duration = .zero,
        gated: Bool,
        seed: UInt64 = 1,
        to makeServer: @escaping @Sendable (ManualClock) -> RejectingServer
    ) async throws -> Run {
        try await simulate(seed: seed) { simulation in
            let (clock, server) = (simulation.clock, makeServer(simulation.clock))
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            let retrier = BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(budget)
                    $0.gate = gated ? OriginPauses(clock: clock, random: simulation.random) : nil
                    $0.random = simulation.random
                }
            )
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: retrier,
                transport: server,
                clock: clock
            )
            let succeeded = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<calls {
                    group.addTask {
                        try? await clock.sleep(for: interval * number)
                        return (try? await Ping.get.response(with: service)) != nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            return Run(succeeded: succeeded, sends: server.count, balance: budget.balance)
        }
    }

    // MARK: A limit

    @Test("C30: of a hundred calls at once to a server that takes ten a second 85 succeed, and leave the budget full")
    func limited() async throws {
        let run = try await run(100, gated: false) { RejectingServer(tokens: 10, status: 429, clock: $0) }
        // The others have used up their four attempts: without a gate it is not known how many wait.
        #expect(run.succeeded == 85)
        #expect(run.balance == 10)
        #expect(run.sends == 280)
    }

    @Test("C30: with a gate, a hundred rejected calls all succeed, and few are rejected twice")
    func gated() async throws {
        let run = try await run(100, gated: true) { RejectingServer(tokens: 10, status: 429, clock: $0) }
        #expect(run.succeeded == 100)
        #expect(run.balance == 10)
        // A hundred that succeed, ninety that are sent away at once, and about two a second that find out.
        #expect(run.sends == 198)
    }

    // MARK: A server in trouble

    @Test(
        "in an outage with a Retry-After in each 503, a client makes ten retries, with or without a gate",
        arguments: [true, false]
    )
    func outage(gated: Bool) async throws {
        // A call a second for a minute.
        let run = try await run(60, every: .seconds(1), gated: gated) {
            RejectingServer(tokens: 0, status: 503, clock: $0)
        }
        #expect(run.succeeded == 0)
        #expect(run.sends == 60 + 10)
    }

    @Test("a hundred calls that meet a 429 may all wait and retry")
    func outageByRule() async throws {
        let run = try await run(200, every: .seconds(1), gated: false) {
            RejectingServer(tokens: 0, status: 429, clock: $0)
        }
        #expect(run.sends == 200 + 100)
    }

    @Test("a 503 without Retry-After costs a token: five retries, and then none")
    func failing() async throws {
        let run = try await run(60, every: .seconds(1), gated: false) {
            RejectingServer(tokens: 0, status: 503, retryAfter: nil, clock: $0)
        }
        #expect(run.sends == 60 + 5)
    }

    // MARK: Budgets

    @Test("requested retries have a bucket of their own: one takes a tenth after a 429, and a token after a 503")
    func bucket() {
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        var counts: [Int] = []
        for reason in [RetryCost.Reason.postponed, .unavailable, .failure] {
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            counts.append((0..<1_000).filter { _ in budget.spend(reason) }.count)
        }
        #expect(counts == [100, 10, 5])
        #expect(budget.spend(.unavailable))
        #expect((budget.requestedBalance, budget.balance) == (9, 10))
        budget.deposit(refunding: .unavailable)
        #expect(budget.requestedBalance == 10)
        #expect(budget.spend(.postponed) && budget.spend(.postponed) && budget.spend(.postponed))
        #expect(budget.requestedBalance == 9.7)
        budget.deposit(refunding: .postponed)
        #expect(budget.requestedBalance == 9.9)
        budget.deposit(refunding: .failure)
        #expect(budget.requestedBalance == 10)
    }

    @Test("a ratio budget counts requested retries in a second window with the same bound")
    func ratio() {
        let clock = ManualClock()
        var counts: [Int] = []
        for reason in [RetryCost.Reason.postponed, .unavailable, .failure] {
            let budget = RatioBudget(clock: clock)
            counts.append((0..<1_000).filter { _ in budget.spend(reason) }.count)
        }
        #expect(counts == [100, 10, 10])
        let budget = RatioBudget(clock: clock)
        for _ in 0..<10 { #expect(budget.spend(.unavailable)) }
        #expect((budget.requestedBalance, budget.balance) == (0, 10))
        budget.deposit()
        #expect((budget.requestedBalance, budget.balance) == (0.1, 10.1))
        clock.advance(by: .seconds(10))
        #expect((budget.requestedBalance, budget.balance) == (10, 10))
    }

    @Test(
        "a retry costs what its failure and its Retry-After say",
        arguments: [
            (429, true, .postponed), (429, false, .throttling), (503, true, .unavailable), (503, false, .failure),
            (500, true, .failure), (502, false, .failure),
        ] as [(Int, Bool, RetryCost.Reason)]
    )
    func costs(status: Int, hasTime: Bool, expected: RetryCost.Reason) {
        var error = HttpError(
            .status(status),
            stage: .validate,
            delivery: Delivery(status: status, hasRetryAfter: hasTime),
            retryAfter: hasTime ? .seconds(1) : nil
        )
        #expect(RetryCost.Reason(after: error) == expected)
        // An earlier exchange of the attempt may have been executed.
        error.delivery = .maybeExecuted
        #expect(RetryCost.Reason(after: error) == (status == 429 ? .throttling : .failure))
    }
}

/// Takes as many requests a second as it has tokens, and at first that many more; it rejects the others, with the time of a
/// second. An answer takes 10 ms.
private final class RejectingServer: HttpTransport {
    private struct State {
        var count = 0
        var tokens: Double
        var last = Duration.zero
    }

    private let rate: Double
    private let status: Int
    private let header: HttpHeader
    private let clock: ManualClock
    private let state: Locked<State>

    init(tokens: Double, status: Int, retryAfter: Int? = 1, clock: ManualClock) {
        (self.rate, self.status, self.clock) = (tokens, status, clock)
        self.header = retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
        self.state = Locked(State(tokens: tokens))
    }

    /// How many requests it has seen.
    var count: Int { state.withLock { $0.count } }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let now = clock.now.offset
        let isTaken = state.withLock { state in
            state.count += 1
            state.tokens = min(rate, state.tokens + (now - state.last) / .seconds(1) * rate)
            state.last = now
            guard state.tokens >= 1 else { return false }
            state.tokens -= 1
            return true
        }
        try await clock.sleep(for: .milliseconds(10))
        return HttpResponse(
            status: isTaken ? 200 : status,
            header: isTaken ? [:] : header,
            body: Data(),
            url: request.url
        )
    }
}
