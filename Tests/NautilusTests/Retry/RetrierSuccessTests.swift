import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A call that succeeds deposits in the budgets of its retriers")
struct RetrierSuccessTests {
    /// Notes each deposit.
    private final class Listening: RetryBudget {
        let name: String
        let log: Locked<[String]>

        init(_ name: String, _ log: Locked<[String]>) { (self.name, self.log) = (name, log) }

        func withdraw(_ reason: RetryCost.Reason) -> Bool { true }
        func deposit(refunding reason: RetryCost.Reason?) { log.withLock { $0.append(name) } }
    }

    /// Retries as often as it is told to, for free.
    private struct Paying: Retrier {
        let budget: Listening
        var retries = 0

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            defer { retries -= 1 }
            return retries > 0 ? true : false
        }

        func budgets(for origin: HttpOrigin) -> [any RetryBudget] { [budget] }
    }

    /// Answers by itself what `isStale` says, and passes on the rest.
    private struct Cache: CallInterceptor {
        let isStale: @Sendable (Int?) -> Bool

        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            guard !isStale(nil) else { return HttpResponse(body: Data("stale".utf8)) }
            let response = try? await next(request)
            if let response, !isStale(response.status) { return response }
            return HttpResponse(body: Data("stale".utf8))
        }
    }

    private let log = Locked<[String]>([])

    private func entries(
        retries: Int = 0,
        interceptors: [any HttpInterceptor] = [],
        of request: Ping = .get,
        _ transport: ScriptedTransport
    ) async throws -> [String] {
        let (first, second) = (Listening("first", log), Listening("second", log))
        _ = try await outcome(
            of: request,
            retrier: .composed(
                AnyRetrierFactory { Paying(budget: first, retries: retries) },
                AnyRetrierFactory { Paying(budget: second) },
                AnyRetrierFactory { Paying(budget: first) }
            ),
            interceptors: interceptors,
            transport
        )
        return log.withLock { $0 }
    }

    @Test("a successful call deposits in each budget once, whatever its attempts and retriers")
    func success() async throws {
        let transport = ScriptedTransport(.status(503), .status(503), .reply(text: "ok"))
        #expect(try await entries(retries: 2, transport) == ["first", "second"])
    }

    @Test("a call that fails deposits nothing, even after a good answer")
    func failure() async throws {
        #expect(try await entries(ScriptedTransport(.status(404))) == [])
        let only = Listening("only", log)
        _ = try await outcome(
            of: Undecodable(),
            retrier: AnyRetrierFactory { Paying(budget: only) },
            ScriptedTransport(.status(200))
        )
        #expect(log.withLock { $0 } == [])
    }

    @Test("a status that the request accepts is a success")
    func acceptedStatus() async throws {
        let request = Ping(acceptedStatusCodes: [404])
        #expect(try await entries(of: request, ScriptedTransport(.status(404))) == ["first", "second"])
    }

    @Test(
        "a success that an interceptor has made deposits nothing, whatever it was made from",
        arguments: [
            (ScriptedReply.reply(text: "ok"), { @Sendable (_: Int?) in true }, false),
            (.fail(.networkConnectionLost), { @Sendable _ in false }, false),
            (.status(503), { @Sendable status in status == 503 }, false),
            (.status(304), { @Sendable status in status == 304 }, true),
        ]
    )
    func cached(reply: ScriptedReply, isStale: @escaping @Sendable (Int?) -> Bool, deposits: Bool) async throws {
        let entries = try await entries(interceptors: [Cache(isStale: isStale)], ScriptedTransport(reply))
        #expect(entries == (deposits ? ["first", "second"] : []))
    }

    @Test("a call that a hook has fulfilled deposits nothing")
    func fulfilled() async throws {
        struct Remembering: ServiceHook {
            func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
                ("remembered" as? R.Result).map { HttpResponse(body: $0) }
            }
        }
        let only = Listening("only", log)
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AnyRetrierFactory { Paying(budget: only) },
            transport: ScriptedTransport()
        ).with { $0.hook = Remembering() }
        #expect(try await Ping.get.schedule(with: service) == "remembered")
        #expect(log.withLock { $0 } == [])
    }

    @Test("an answer from a cache fills no budget")
    func cacheAndBudget() async throws {
        let budget = QuotaBudget(initial: 100)
        let retrier = steadyBackoff(budget: .shared(budget))
        let cache = Cache { _ in true }
        _ = try await outcome(of: Ping.get, retrier: retrier, interceptors: [cache], ScriptedTransport())
        #expect(budget.balance == 100)
        _ = try await outcome(of: Ping.get, retrier: retrier, ScriptedTransport(.reply(text: "ok")))
        #expect(budget.balance == 101)
    }

    @Test("only the budget that the last retry drew on gets its token back")
    func payer() async throws {
        let (payer, other) = (QuotaBudget(initial: 100), QuotaBudget(initial: 100))
        struct Both: Retrier {
            var inner: any Retrier
            let other: QuotaBudget
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                await inner.retry(request, failingWith: error)
            }
            func budgets(for origin: HttpOrigin) -> [any RetryBudget] { inner.budgets(for: origin) + [other] }
        }
        let backoff = steadyBackoff(budget: .shared(payer))
        _ = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory { Both(inner: backoff.create(for: Ping.get), other: other) },
            ScriptedTransport(.status(503), .reply(text: "ok"))
        )
        #expect((payer.balance, other.balance) == (100, 101))
    }

    @Test("C12: a retry that the deadline forbids, or that might repeat a POST, costs nothing")
    func free() async throws {
        let budget = QuotaBudget(initial: 100)
        let decision = RetryDecision.retry(after: .seconds(2), paying: RetryCost(from: budget))
        let retrier = ScriptedRetrier.factory { _, _ in decision }
        let late = try await outcome(of: Ping(deadline: .seconds(1)), retrier: retrier, ScriptedTransport(.status(503)))
        #expect(late.lastReason == .deadline(remaining: .seconds(1)))
        let unsafe = try await outcome(of: Ping.post, retrier: retrier, ScriptedTransport(.status(500)))
        #expect(unsafe.lastReason == .mayHaveExecuted)
        #expect(budget.balance == 100)
    }

    @Test("C12: a one-shot body that cannot be sent again costs nothing")
    func oneShot() async throws {
        struct OneShot: Request {
            typealias Result = String
            var route: HttpRoute { [] }
            var method: HttpMethod { .put }
            var body: HttpBody { .stream(AsyncStream { $0.finish() }) }
        }
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        let outcome = try await outcome(
            of: OneShot(),
            retrier: steadyBackoff(budget: .shared(budget)),
            ScriptedTransport(.status(503))
        )
        #expect(outcome.lastReason == .bodySpent)
        #expect(budget.balance == 10)
    }

    @Test("a 503, a retry that is free, and a success: what the first retry took comes back")
    func refundAfterFreeRetry() async throws {
        let budget = QuotaBudget()
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(
                ScriptedRetrier.factory { _, error in error.status == 401 ? .retry(after: .zero) : .doNotRetry },
                steadyBackoff(budget: .shared(budget))
            ),
            ScriptedTransport(.status(503), .status(401), .reply(text: "ok"))
        )
        #expect(outcome.attempts == 3)
        #expect(budget.balance == 500)
    }

    @Test("a retrier that wraps another, and knows nothing of budgets, names its budgets")
    func wrapped() async throws {
        struct Wrapper: Retrier {
            var inner: any Retrier
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                await inner.retry(request, failingWith: error)
            }
            func budgets(for origin: HttpOrigin) -> [any RetryBudget] { inner.budgets(for: origin) }
        }
        let budget = QuotaBudget(initial: 100)
        let backoff = steadyBackoff(budget: .shared(budget))
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: AnyRetrierFactory { request in Wrapper(inner: backoff.create(for: Ping.get)) },
                transport: ScriptedTransport(.reply(text: "ok"), .status(503), .reply(text: "ok")),
                clock: simulation.clock
            ).with {
                $0.interceptors.append(
                    Hedging(after: .fixed(.seconds(9)), latencies: OriginLatencies(), budget: .shared(budget))
                )
            }
            _ = try await Ping.get.schedule(with: service)
            // Hedging and retrier share the budget: one success, one deposit.
            #expect(budget.balance == 101)
            _ = try await Ping.get.schedule(with: service)
            #expect(budget.balance == 101)
        }
    }

    @Test("the latency of a call that was led on is that of the whole way, counted once")
    func redirected() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let latencies = OriginLatencies(minimumCount: 1, clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .unlimited
                        $0.latencies = latencies
                    }
                ),
                transport: ScriptedTransport(
                    .delay(.milliseconds(30), then: .status(302, header: ["Location": "/elsewhere"])),
                    .delay(.milliseconds(20), then: .reply(text: "ok")),
                    clock: clock
                ),
                clock: clock
            )
            let response = try await Ping.get.response(with: service)
            let origin = try #require(response.trace.request?.origin)
            #expect(latencies.median(of: origin) == .milliseconds(50))
        }
    }
}
