import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The books of exchanges, permits and shared answers")
struct ExchangeAccountTests {
    /// Gives the same answer a mark that calls and retriers share.
    private struct Sharing: CallInterceptor {
        let shared = SharedAnswer()
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            var response = try await next(request)
            if response.status == 503 { response.sharedAnswer = shared }
            return response
        }
    }

    @Test("two retriers of one call: the second pays from its own budget, though the first goes without")
    func sharedUnpaid() async throws {
        // Both services get one answer: one has no budget, the other has one.
        let budget = RetryAllowance(10)
        let sharing = Sharing()
        try await simulate { simulation in
            func service(_ scope: RetryBudgetScope) -> AnyHttpService<HttpError> {
                AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: [sharing],
                    retrierFactory: steadyBackoff(budget: scope),
                    transport: ScriptedTransport(.status(503), .reply(text: "ok")),
                    clock: simulation.clock
                )
            }
            _ = try await Ping.get.schedule(with: service(.unlimited))
            #expect(budget.balance == 10)
            _ = try await Ping.get.schedule(with: service(.shared(budget)))
            #expect(budget.balance == 9)
        }
    }

    @Test("a retrier whose budget is used up does not speak for the next retrier, which has its own")
    func sharedRefused() async throws {
        for isShared in [false, true] {
            let empty = TokenBucketBudget(capacity: 0)
            let full = TokenBucketBudget(depositOfSuccess: 0.1)
            let outcome = try await outcome(
                of: Ping.get,
                retrier: ComposedRetrier.factory(
                    steadyBackoff(budget: .shared(empty)),
                    steadyBackoff(budget: .shared(full))
                ),
                interceptors: isShared ? [Sharing()] : [],
                ScriptedTransport(.status(503), .reply(text: "ok"))
            )
            #expect(outcome.response?.body == "ok", "shared: \(isShared)")
        }
    }

    /// An interceptor that makes another value of the answer: decompressed, say, some time later.
    private static func rebuilding(_ clock: ManualClock) -> ClosureInterceptor {
        ClosureInterceptor { request, _, next in
            let response = try await next(request)
            try await clock.sleep(for: .milliseconds(1))
            return HttpResponse(
                status: response.status,
                header: response.header,
                body: response.body,
                url: response.url
            )
        }
    }

    @Test("a send that has lost and ends after the winner does not take the answer's place in the books")
    func loser() async throws {
        for rebuilds in [false, true] {
            try await simulate { simulation in
                let clock = simulation.clock
                let budget = QuotaBudget(initial: 100)
                let latencies = OriginLatencies(minimumCount: 1, clock: clock)
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: rebuilds ? [Self.rebuilding(clock)] : [],
                    transport: ScriptedTransport(.hang, .reply(text: "ok"), clock: clock),
                    clock: clock
                ).with {
                    $0.interceptors.append(
                        Hedging(
                            after: .fixed(.milliseconds(10)),
                            latencies: latencies,
                            budget: .shared(budget)
                        )
                    )
                }
                let response = try await Ping.get.response(with: service)
                #expect(response.trace.attempts.first?.source == .server, "rebuilds: \(rebuilds)")
                // 14 for the hedge, and back with the success.
                #expect(budget.balance == 100, "rebuilds: \(rebuilds)")
                let origin = try #require(response.trace.request?.origin)
                #expect(latencies.median(of: origin) == .milliseconds(10), "rebuilds: \(rebuilds)")
            }
        }
    }

    @Test("a hedge is no retry: a budget of its own does not keep the retry's cost from coming back")
    func hedgedRetry() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let retries = QuotaBudget()
            let hedges = QuotaBudget()
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: steadyBackoff(budget: .shared(retries)),
                transport: ScriptedTransport(.status(503), .hang, .reply(text: "ok"), clock: clock),
                clock: clock
            ).with {
                $0.interceptors.append(
                    Hedging(
                        after: .fixed(.milliseconds(10)),
                        latencies: OriginLatencies(clock: clock),
                        budget: .shared(hedges)
                    )
                )
            }
            _ = try await Ping.get.schedule(with: service)
            #expect(hedges.balance == 500)
            #expect(retries.balance == 500)
        }
    }

    @Test("an exchange whose time was up in the line for a connection has waited for all of it")
    func waitedToTheEnd() async throws {
        struct InLine: HttpTransport {
            let clock: ManualClock
            func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
                context.beginWaitingForConnection()
                try await clock.sleep(for: .seconds(60))
                context.endWaitingForConnection()
                return HttpResponse(body: Data())
            }
        }
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: InLine(clock: simulation.clock),
                clock: simulation.clock
            )
            let error = await #expect(throws: HttpError.self) {
                try await Ping(deadline: .seconds(1)).schedule(with: service)
            }
            #expect(error?.trace.exchanges.map(\.duration) == [.seconds(1)])
            #expect(error?.trace.exchanges.map(\.connectionWait) == [.seconds(1)])
        }
    }

    @Test("a cancellation of URL loading that is not the caller's is asked about, too")
    func foreignCancellation() async throws {
        let asked = Counter()
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ScriptedRetrier.factory { _, _ in
                asked.increment()
                return false
            },
            interceptors: [ClosureInterceptor { _, _, _ in throw URLError(.cancelled) }],
            ScriptedTransport()
        )
        #expect(outcome.error?.kind != .cancelled)
        #expect(asked.value == 1)
    }

    @Test("a side request that an interceptor has given up does not end the call as cancelled")
    func sideCancelled() async throws {
        let asked = Counter()
        try await simulate { simulation in
            let racing = ClosureInterceptor { _, context, _ in
                let aside = HttpRequest(url: .broken("https://api.example.com/status"))
                return try await withThrowingTaskGroup(of: HttpResponse<Data>.self) { group in
                    group.addTask { try await context.send(aside) }
                    try await simulation.clock.sleep(for: .seconds(1))
                    group.cancelAll()
                    return try await group.next() ?? HttpResponse(body: Data())
                }
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [racing],
                retrierFactory: ScriptedRetrier.factory { _, _ in
                    asked.increment()
                    return false
                },
                transport: ScriptedTransport(.hang),
                clock: simulation.clock
            )
            let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
            #expect(error?.kind != .cancelled)
            #expect(asked.value == 1)
        }
    }

    @Test("an error that a caller keeps keeps no permit for a retry that is not made")
    func permitInError() async throws {
        try await simulate { simulation in
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            let sharing = ClosureInterceptor { request, _, next in
                var response = try await next(request)
                response.sharedAnswer = SharedAnswer()
                return response
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [sharing],
                retrierFactory: steadyBackoff(budget: .shared(budget)),
                transport: ScriptedTransport(.status(503)),
                clock: simulation.clock
            )
            let kept = Locked<HttpError?>(nil)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do throws(HttpError) {
                        _ = try await Ping.get.schedule(with: service)
                    } catch {
                        kept.withLock { [error] in $0 = error }
                    }
                }
                try? await simulation.clock.sleep(for: .milliseconds(250))
                group.cancelAll()
            }
            let error = kept.withLock { $0 }
            #expect(error?.kind == .cancelled)
            #expect(budget.balance == 10)
            withExtendedLifetime(error) {}
        }
    }

    @Test("a side request that carries a fresh grant does not have that refreshed for the 401 of an older one")
    func freshGrant() async throws {
        try await simulate { simulation in
            let refreshes = Counter()
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { _ in
                refreshes.increment()
                return Token(number: 1 + refreshes.value)
            }
            let asking = ClosureInterceptor { request, context, next in
                let response = try await next(request)
                if context.number == 1 {
                    // Another call has been rejected, and has refreshed meanwhile.
                    if let old = coordinator.current { _ = try await coordinator.refresh(rejecting: old) }
                    _ = try await context.send(HttpRequest(url: .broken("https://api.example.com/status")))
                }
                return response
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [asking],
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: ScriptedTransport { request, _ in
                    if request.url.path == "/status" { return .reply(text: "fine") }
                    return request.header[.authorization] == "Bearer token-1" ? .status(401) : .reply(text: "ok")
                },
                clock: simulation.clock
            )
            let text = try await Ping.get.schedule(with: service)
            #expect(text == "ok")
            #expect(refreshes.value == 1)
        }
    }

    @Test("a 401 has the grant refreshed that its own request carried, whatever was stamped at the side meanwhile")
    func sideGrant() async throws {
        for host in ["api.example.com", "other.example.com"] {
            try await simulate { simulation in
                let refreshes = Counter()
                let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { _ in
                    refreshes.increment()
                    return Token(number: 2)
                }
                let asking = ClosureInterceptor { request, context, next in
                    let response = try await next(request)
                    _ = try await context.send(HttpRequest(url: .broken("https://\(host)/status")))
                    return response
                }
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: [asking],
                    retrierFactory: AuthorizationRetrier.factory(coordinator),
                    transport: ScriptedTransport { request, _ in
                        if request.url.path == "/status" { return .reply(text: "fine") }
                        return request.header[.authorization] == "Bearer token-2" ? .reply(text: "ok") : .status(401)
                    },
                    clock: simulation.clock
                )
                let text = try? await Ping.get.schedule(with: service)
                #expect(text == "ok", "\(host)")
                #expect(refreshes.value == 1, "\(host)")
            }
        }
    }
}
