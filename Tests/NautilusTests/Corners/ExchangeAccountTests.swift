import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("The books of exchanges and subrequests")
struct ExchangeAccountTests {
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

    @Test("an exchange whose time was up in the queue for a connection has waited for all of it")
    func waitedToTheEnd() async throws {
        struct Queued: HttpTransport {
            let clock: ManualClock
            func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
                context.beginWaitingForConnection()
                try await clock.sleep(for: .seconds(60))
                context.endWaitingForConnection()
                return HttpResponse(body: Data())
            }
        }
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: Queued(clock: simulation.clock),
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
            interceptors: [OwnNetworkInterceptor { _, _, _ in throw URLError(.cancelled) }],
            ScriptedTransport()
        )
        #expect(outcome.error?.kind != .cancelled)
        #expect(asked.value == 1)
    }

}
