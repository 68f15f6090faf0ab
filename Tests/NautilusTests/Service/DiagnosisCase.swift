import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusTraffic

/// A service, a request on it, and what is to be found; `service` is what the service alone shows.
struct DiagnosisCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let service: any HttpService
    let request: Call
    let expected: [PolicyFinding]

    init(
        _ name: String,
        _ service: any HttpService,
        _ request: Call = Call(timeout: .seconds(60)),
        finds expected: PolicyFinding...
    ) {
        (testDescription, self.service, self.request, self.expected) = (name, service, request, expected)
    }
}

extension DiagnosisCase {
    /// A service with these rules.
    static func service(
        _ factory: any RetrierFactory = BackoffRetrier.factory(),
        interceptors: [any HttpInterceptor] = [],
        hedging: Hedging? = nil,
        maxAttempts: Int = 100
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            retrierFactory: factory
        ).with {
            $0.hedging = hedging
            $0.maxAttempts = maxAttempts
        }
    }

    typealias Case = DiagnosisCase

    static let sound: [Case] = [
        Case("the defaults", AnyHttpService(apiUrl: "api.example.com")),
        Case("the defaults with a deadline", AnyHttpService(apiUrl: "api.example.com"), Call(deadline: .seconds(1))),
        Case("the default backoff", service()),
        Case("a deadline that all attempts fit into", service(), Call(timeout: .seconds(15), deadline: .seconds(60))),
        Case("no timeout", service(), Call(deadline: .seconds(1))),
        Case(
            "one attempt",
            service(BackoffRetrier.factory(.standard.with { $0.maxAttempts = 1 })),
            Call(timeout: .seconds(60), deadline: .seconds(1))
        ),
        Case("the default cap, and a shorter deadline", service(), Call(timeout: .seconds(1), deadline: .seconds(10))),
        Case(
            "a cap that fits",
            service(BackoffRetrier.factory(.standard.with { $0.retryAfterCap = .seconds(10) })),
            Call(timeout: .seconds(1), deadline: .seconds(10))
        ),
        Case(
            "as many attempts as the service",
            service(BackoffRetrier.factory(.standard.with { $0.maxAttempts = 7 }), maxAttempts: 7)
        ),
        Case(
            "no budget, no retries",
            service(
                BackoffRetrier.factory(
                    .standard.with {
                        $0.maxAttempts = 1
                        $0.budget = .unlimited
                    }
                )
            )
        ),
        Case(
            "an undescribed factory",
            service(AnyRetrierFactory { NilRetrier() }),
            Call(timeout: .seconds(9), deadline: .seconds(1))
        ),
        Case("a POST, which a timeout ends", service(), .hurriedPost()),
        // The services of the guides.
        Case(
            "staging",
            service(interceptors: [CircuitBreaker(), Chaos(seed: 7, .failure(.cannotConnectToHost, rate: 0.05))])
        ),
        Case(
            "orders",
            service(
                BackoffRetrier.factory(.standard.with { $0.condition = .standard.retryingKeysInProgress() }),
                interceptors: [IdempotencyKeys()]
            )
        ),
        Case(
            "hurried",
            service(
                BackoffRetrier.factory(.standard.with { $0.latencies = OriginLatencies() }),
                interceptors: [RequestTimeoutHeader()]
            )
        ),
        Case(
            "polite",
            Computed(makeFactory: { [pauses = OriginPauses()] in
                BackoffRetrier.factory(.standard.with { $0.gate = pauses })
            })
        ),
        Case(
            "busy",
            Computed(makeFactory: { [budget = RatioBudget(ratio: 0.2, minimumRetriesPerSecond: 5)] in
                BackoffRetrier.factory(.standard.with { $0.budget = .shared(budget) })
            })
        ),
        Case(
            "like the AWS SDKs",
            service(
                BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .exponential(base: .milliseconds(50))
                        $0.throttlingBackoff = .exponential(base: .seconds(1))
                        $0.maxAttempts = 3
                        $0.budget = .shared(QuotaBudget())
                    }
                )
            )
        ),
        Case("suggestions", service(), Call(timeout: .milliseconds(500), deadline: .seconds(2))),
        Case("an order of the guide", service(), Call(timeout: .seconds(5), deadline: .seconds(30))),
        Case(
            "authorized",
            Computed(makeFactory: { [coordinator = RefreshCoordinator(credential: Token(number: 1)) { $0 }] in
                ComposedRetrier.factory(
                    AuthorizationRetrier.factory(coordinator),
                    BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
                )
            })
        ),
        Case(
            "two retriers with budgets of their own",
            service(
                ComposedRetrier.factory(
                    BackoffRetrier.factory(.standard.with { $0.budget = .shared(TokenBucketBudget()) }),
                    BackoffRetrier.factory(.standard.with { $0.budget = .shared(TokenBucketBudget()) })
                )
            )
        ),
        Case(
            "the guide's order",
            service(
                interceptors: [
                    IdempotencyKeys(), ConcurrencyLimit(8), Pacing(), RequestTimeoutHeader(), CircuitBreaker(),
                    Chaos(seed: 1),
                ]
            )
        ),
        Case("hedging", service(hedging: Hedging(after: .observed()))),
        Case("hedging anew", Computed(makeHedging: { Hedging(after: .fixed(.seconds(1))) })),
        Case(
            "hedging in time",
            service(hedging: Hedging(after: .fixed(.nanoseconds(999)))),
            Call(timeout: .microseconds(1))
        ),
        Case(
            "hedging that is not wanted",
            service(hedging: Hedging(after: .fixed(.seconds(1)))),
            Call(timeout: .seconds(1), allowsHedging: false)
        ),
        Case(
            "stateless interceptors anew",
            Computed(makeInterceptors: { [IdempotencyKeys(), RequestTimeoutHeader()] })
        ),
        Case("an interceptor of one's own anew", Computed(makeInterceptors: { [OwnInterceptor()] })),
        Case("a transport of one's own anew", Computed(makeTransport: { ScriptedTransport() })),
    ]

    static let contradictions: [Case] = [
        Case(
            "attempts that do not fit",
            service(),
            Call(timeout: .nanoseconds(15_000_000_001), deadline: .seconds(60)),
            finds: .attemptsDoNotFit(
                attempts: 4,
                timeout: .nanoseconds(15_000_000_001),
                delays: .zero,
                deadline: .seconds(60)
            )
        ),
        Case(
            "delays that do not fit",
            service(
                BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .exponential(base: .seconds(1), jitter: .equal)
                        $0.maxAttempts = 3
                    }
                )
            ),
            Call(timeout: .seconds(2), deadline: .nanoseconds(7_499_999_999)),
            finds: .attemptsDoNotFit(
                attempts: 3,
                timeout: .seconds(2),
                delays: .milliseconds(1500),
                deadline: .nanoseconds(7_499_999_999)
            )
        ),
        Case(
            "attempts of several retriers",
            service(
                ComposedRetrier.factory(
                    AnyRetrierFactory(descriptions: [RetryDescription(maxAttempts: 2)]) { NilRetrier() },
                    BackoffRetrier.factory(.standard.with { $0.maxAttempts = 3 })
                )
            ),
            Call(timeout: .seconds(2), deadline: .nanoseconds(7_999_999_999)),
            finds: .attemptsDoNotFit(
                attempts: 4,
                timeout: .seconds(2),
                delays: .zero,
                deadline: .nanoseconds(7_999_999_999)
            )
        ),
        Case(
            "attempts of a POST with a key that do not fit",
            service(interceptors: [IdempotencyKeys()]),
            .hurriedPost(),
            finds: .attemptsDoNotFit(attempts: 4, timeout: .seconds(20), delays: .zero, deadline: .seconds(25))
        ),
        Case(
            "attempts of a POST that may be executed twice",
            service(
                BackoffRetrier.factory(
                    .standard.with {
                        $0.maxAttempts = 2
                        $0.retriesNonIdempotentRequests = true
                    }
                )
            ),
            .hurriedPost(),
            finds: .retriesNonIdempotentRequests,
            .attemptsDoNotFit(attempts: 2, timeout: .seconds(20), delays: .zero, deadline: .seconds(25))
        ),
        Case(
            "a cap that was named",
            service(BackoffRetrier.factory(.standard.with { $0.retryAfterCap = .seconds(30) })),
            Call(timeout: .seconds(1), deadline: .seconds(29)),
            finds: .retryAfterCapBeyondDeadline(cap: .seconds(30), deadline: .seconds(29))
        ),
        Case(
            "a ceiling",
            service(BackoffRetrier.factory(.standard.with { $0.maxAttempts = 8 }), maxAttempts: 7),
            finds: .attemptsOverCeiling(attempts: 8, ceiling: 7)
        ),
        Case(
            "attempts without end",
            service(BackoffRetrier.factory(.standard.with { $0.maxAttempts = .max })),
            Call(timeout: .seconds(1), deadline: .seconds(5)),
            finds: .attemptsOverCeiling(attempts: .max, ceiling: 100),
            .attemptsDoNotFit(attempts: .max, timeout: .seconds(1), delays: .zero, deadline: .seconds(5))
        ),
        Case(
            "unsafe retries",
            service(BackoffRetrier.factory(.standard.with { $0.retriesNonIdempotentRequests = true })),
            finds: .retriesNonIdempotentRequests
        ),
        Case(
            "no budget",
            service(BackoffRetrier.factory(.standard.with { $0.budget = .unlimited })),
            finds: .unlimitedBudget(of: .retries)
        ),
        Case(
            "no budget for hedges",
            service(hedging: Hedging(after: .observed(), budget: .unlimited)),
            finds: .unlimitedBudget(of: .hedges)
        ),
        Case(
            "a budget that is filled twice",
            service(ComposedRetrier.factory(BackoffRetrier.factory(), BackoffRetrier.factory())),
            finds: .budgetFilledTwice
        ),
        Case(
            "a hedge after the timeout",
            service(hedging: Hedging(after: .fixed(.seconds(1)))),
            Call(timeout: .seconds(1)),
            finds: .hedgeTooLate(after: .seconds(1), limit: .seconds(1))
        ),
        Case(
            "a hedge after the deadline",
            AnyHttpService(apiUrl: "a.example").with { $0.hedging = Hedging(after: .observed(atLeast: .seconds(3))) },
            Call(timeout: .seconds(5), deadline: .seconds(2)),
            finds: .hedgeTooLate(after: .seconds(3), limit: .seconds(2))
        ),
        Case(
            "interceptors anew",
            Computed(makeInterceptors: { [ConcurrencyLimit(8), Pacing(), CircuitBreaker(), Chaos(seed: 1)] }),
            finds: .madeAnew(type: "ConcurrencyLimit", property: "interceptors"),
            .madeAnew(type: "Pacing", property: "interceptors"),
            .madeAnew(type: "CircuitBreaker", property: "interceptors"),
            .madeAnew(type: "Chaos", property: "interceptors")
        ),
        Case(
            "a budget anew",
            Computed(makeFactory: { BackoffRetrier.factory(.standard.with { $0.budget = .shared(RatioBudget()) }) }),
            finds: .madeAnew(type: "RatioBudget", property: "retrierFactory")
        ),
        Case(
            "budgets, gate and latencies anew",
            Computed(makeFactory: {
                BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .perOrigin(in: OriginBudgets { _ in TokenBucketBudget() })
                        $0.latencies = OriginLatencies()
                        $0.gate = OriginPauses()
                    }
                )
            }),
            finds: .madeAnew(type: "OriginBudgets", property: "retrierFactory"),
            .madeAnew(type: "OriginPauses", property: "retrierFactory"),
            .madeAnew(type: "OriginLatencies", property: "retrierFactory")
        ),
        Case(
            "latencies of hedging anew",
            Computed(makeHedging: { Hedging(after: .observed(), latencies: OriginLatencies()) }),
            finds: .madeAnew(type: "OriginLatencies", property: "hedging")
        ),
        Case(
            "connections anew",
            Computed(makeTransport: { URLSessionTransport() }),
            finds: .madeAnew(type: "URLSessionTransport", property: "transport")
        ),
        Case(
            "the order upside down",
            service(interceptors: [CircuitBreaker(), Pacing(), ConcurrencyLimit(1)]),
            finds: .order("CircuitBreaker", "Pacing", because: .refusing),
            .order("CircuitBreaker", "ConcurrencyLimit", because: .refusing),
            .order("Pacing", "ConcurrencyLimit", because: .waitingForServer)
        ),
        Case(
            "chaos in front",
            service(interceptors: [Chaos(seed: 1), CircuitBreaker()]),
            finds: .order("Chaos", "CircuitBreaker", because: .network)
        ),
        Case(
            "the time told too early",
            service(interceptors: [RequestTimeoutHeader(), IdempotencyKeys(), Pacing()]),
            finds: .order("RequestTimeoutHeader", "Pacing", because: .tellingTime)
        ),
        Case(
            "a pacing of one's own, in front and anew",
            Computed(makeInterceptors: { [OwnPacing(), ConcurrencyLimit.shared] }),
            finds: .madeAnew(type: "OwnPacing", property: "interceptors"),
            .order("OwnPacing", "ConcurrencyLimit", because: .waitingForServer)
        ),
        Case(
            "keys of one's own",
            service(interceptors: [OwnKeys()]),
            .hurriedPost(),
            finds: .attemptsDoNotFit(attempts: 4, timeout: .seconds(20), delays: .zero, deadline: .seconds(25))
        ),
        Case(
            "connections of one's own anew",
            Computed(makeTransport: { OwnTransport() }),
            finds: .madeAnew(type: "OwnTransport", property: "transport")
        ),
    ]
}

/// A service whose properties make what they return, whenever they are read, unless it is handed in.
private struct Computed: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com" }
    var makeInterceptors: @Sendable () -> [any HttpInterceptor] = { [] }
    var makeFactory: @Sendable () -> any RetrierFactory = { BackoffRetrier.factory() }
    var makeHedging: @Sendable () -> Hedging? = { nil }
    var makeTransport: @Sendable () -> any HttpTransport = { URLSessionTransport.shared }

    var interceptors: [any HttpInterceptor] { makeInterceptors() }
    var retrierFactory: any RetrierFactory { makeFactory() }
    var hedging: Hedging? { makeHedging() }
    var transport: any HttpTransport { makeTransport() }
}

private final class OwnInterceptor: HttpInterceptor {
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        try await next(request)
    }
}

extension Call {
    /// A POST like that of a token endpoint.
    fileprivate static func hurriedPost() -> Call {
        Call(method: .post, timeout: .seconds(20), deadline: .seconds(25))
    }
}

extension PolicyFinding {
    fileprivate static func order(_ outer: String, _ inner: String, because place: InterceptorPlace) -> PolicyFinding {
        .interceptorOrder(outer: outer, inner: inner, because: place.reason)
    }
}

extension ConcurrencyLimit {
    fileprivate static let shared = ConcurrencyLimit(8)
}

private final class OwnPacing: HttpInterceptor {
    var place: InterceptorPlace { .waitingForServer }
    var sharedObjects: [any AnyObject & Sendable] { [self] }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        try await next(request)
    }
}

private struct OwnKeys: HttpInterceptor {
    var addsIdempotencyKeys: Bool { true }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        try await next(request)
    }
}

private final class OwnTransport: HttpTransport {
    var sharedObjects: [any AnyObject & Sendable] { [self] }

    func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        HttpResponse(status: 200, header: [:], body: Data(), url: request.url)
    }
}
