import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A retry is paid for when it is sent")
struct RetryPermitTests {
    /// The budgets of the library, each with what it has at first and after one retry that was sent.
    enum Kind: CaseIterable, Sendable {
        case tokens, quota, ratio

        func make(clock: ManualClock) -> (any RetryBudget, balance: @Sendable () -> Double) {
            switch self {
            case .tokens:
                let budget = TokenBucketBudget(depositOfSuccess: 0.1)
                return (budget, { budget.balance })
            case .quota:
                let budget = QuotaBudget(cost: 1)
                return (budget, { Double(budget.balance) })
            case .ratio:
                let budget = RatioBudget(clock: clock)
                return (budget, { budget.balance })
            }
        }
    }

    @Test("a permit that is dropped gives back what it took, one that was used does not", arguments: Kind.allCases)
    func dropped(kind: Kind) {
        let (budget, balance) = kind.make(clock: ManualClock())
        let full = balance()
        var permit = budget.withdraw()
        #expect(balance() == full - 1)
        permit = nil
        #expect(balance() == full)
        permit = budget.withdraw()
        #expect(permit?.use() == true)
        permit = nil
        #expect(balance() == full - 1)
    }

    @Test("a withdrawal that has expired is not given back a second time")
    func expired() {
        let clock = ManualClock()
        let budget = RatioBudget(clock: clock)
        let full = budget.balance
        var permit = budget.withdraw()
        clock.advance(by: .seconds(20))
        #expect(budget.balance == full)
        withExtendedLifetime(permit) {}
        permit = nil
        #expect(budget.balance == full)
        // Within its time it comes back to where it was taken, and expires with it.
        permit = budget.withdraw()
        clock.advance(by: .seconds(5))
        withExtendedLifetime(permit) {}
        permit = nil
        #expect(budget.balance == full)
        clock.advance(by: .seconds(20))
        #expect(budget.balance == full)
    }

    @Test("used again, a permit pays again, as long as the budget does")
    func usedAgain() {
        let budget = TokenBucketBudget(capacity: 4)
        let permit = budget.withdraw()
        #expect(permit?.use() == true)
        #expect(permit?.use() == true)
        #expect(budget.balance == 2)
        #expect(permit?.use() == false)
        #expect(budget.balance == 2)
    }

    @Test("C12: a call that is cancelled while it waits for its retry takes nothing")
    func cancelledInBackoff() async throws {
        try await simulate { simulation in
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: steadyBackoff(budget: .shared(budget)),
                transport: ScriptedTransport(.status(503)),
                clock: simulation.clock
            )
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await Ping.get.schedule(with: service) }
                try? await simulation.clock.sleep(for: .milliseconds(250))
                #expect(budget.balance == 9)
                group.cancelAll()
            }
            #expect(budget.balance == 10)
        }
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

    @Test("C12: a retry that a cache answers costs nothing")
    func answeredByCache() async throws {
        struct Second: CallInterceptor {
            func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<
                Data
            > {
                guard context.number == 1 else { return HttpResponse(body: Data("stored".utf8)) }
                return try await next(request)
            }
        }
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        let outcome = try await outcome(
            of: Ping.get,
            retrier: steadyBackoff(budget: .shared(budget)),
            interceptors: [Second()],
            ScriptedTransport(.status(503))
        )
        #expect(outcome.response?.body == "stored")
        #expect(budget.balance == 10)
    }

    @Test("a 503, a retry that is free, and a success: what the first retry took comes back")
    func refundAfterFreeRetry() async throws {
        let budget = QuotaBudget()
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ComposedRetrier.factory(
                ScriptedRetrier.factory { _, error in error.status == 401 ? .retry(after: .zero) : .doNotRetry },
                steadyBackoff(budget: .shared(budget))
            ),
            ScriptedTransport(.status(503), .status(401), .reply(text: "ok"))
        )
        #expect(outcome.attempts == 3)
        #expect(budget.balance == 500)
    }

    @Test("a retrier that wraps another, and knows nothing of budgets, passes its permits and its success on")
    func wrapped() async throws {
        struct Wrapper: Retrier {
            var inner: any Retrier
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                await inner.retry(request, failingWith: error)
            }
            mutating func succeeded(_ success: CallSuccess) { inner.succeeded(success) }
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

    @Test("C7: calls that were given one answer make one retry: one permit, one delay, whichever draw comes first")
    func sharedAnswer() async throws {
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        let shared = SharedAnswer()
        var error = HttpError(
            .status(503),
            stage: .validate,
            request: RequestSummary(trafficRequest, serviceOrigin: try testOrigin())
        )
        error.sharedAnswer = shared
        let factory = BackoffRetrier.factory(.standard.with { $0.budget = .shared(budget) })
        var permits: [RetryPermit] = []
        var delays: Set<Duration> = []
        for _ in 0..<100 {
            var retrier = factory.create(for: Ping.get)
            guard case .retry(let delay, let permit?, _) = await retrier.retry(Ping.get, failingWith: error) else {
                Issue.record("refused")
                continue
            }
            delays.insert(delay)
            permits.append(permit)
        }
        #expect(permits.count == 100)
        #expect(delays.count == 1)
        #expect(budget.balance == 9)
        #expect(Set(permits.map(ObjectIdentifier.init)).count == 1)
    }

    @Test("C7: where the retry turns out to be several, each is paid for; one that is not fails with what it followed")
    func severalAfterAll() async throws {
        let budget = RetryAllowance(3)
        let shared = SharedAnswer()
        struct Sharing: CallInterceptor {
            let shared: SharedAnswer
            func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<
                Data
            > {
                var response = try await next(request)
                if response.status == 503 { response.sharedAnswer = shared }
                return response
            }
        }
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Sharing(shared: shared)],
                retrierFactory: steadyBackoff(budget: .shared(budget)),
                transport: ScriptedTransport { _, _ in
                    simulation.clock.now.offset == .zero ? .status(503) : .reply(text: "ok")
                },
                clock: simulation.clock
            )
            let results = await withTaskGroup(of: FailureKind?.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do throws(HttpError) {
                            _ = try await Ping.get.schedule(with: service)
                            return nil
                        } catch {
                            return error.kind
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == nil } == 3)
            #expect(results.count { $0 == .status(503) } == 7)
        }
    }

    @Test("a retry is paid for once, however often it is sent within its attempt")
    func sentTwice() async throws {
        let budget = RetryAllowance(10)
        let sendingTwice = ClosureInterceptor { request, context, next in
            if context.number == 2 { _ = try await next(request) }
            return try await next(request)
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: steadyBackoff(budget: .shared(budget)),
            interceptors: [sendingTwice],
            ScriptedTransport(.status(503), .reply(text: "ok"), .reply(text: "ok"))
        )
        #expect(outcome.trace.exchanges.map(\.role) == [.main, .main, .main])
        #expect(budget.balance == 9)
    }
}
