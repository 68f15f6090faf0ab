import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic
@testable import NautilusURLSession

/// A service, a request on it, and what is to be found; `service` is what the service alone shows.
struct DiagnosisCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let service: any HttpService
    let request: Ping
    let expected: [PolicyFinding]

    init(
        _ name: String,
        _ service: any HttpService,
        _ request: Ping = Ping(timeout: .seconds(60)),
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
            if let hedging { $0.interceptors.append(hedging) }
            $0.maxAttempts = maxAttempts
        }
    }

    typealias Case = DiagnosisCase

    static let sound: [Case] = [
        Case("the defaults", AnyHttpService(apiUrl: "api.example.com")),
        Case("the defaults with a deadline", AnyHttpService(apiUrl: "api.example.com"), Ping(deadline: .seconds(1))),
        Case("the default backoff", service()),
        Case("a deadline that all attempts fit into", service(), Ping(timeout: .seconds(15), deadline: .seconds(60))),
        Case("no timeout", service(), Ping(deadline: .seconds(1))),
        Case(
            "one attempt",
            service(BackoffRetrier.factory(.standard.with { $0.maxAttempts = 1 })),
            Ping(timeout: .seconds(60), deadline: .seconds(1))
        ),
        Case("the default cap, and a shorter deadline", service(), Ping(timeout: .seconds(1), deadline: .seconds(10))),
        Case(
            "a cap that fits",
            service(BackoffRetrier.factory(.standard.with { $0.retryAfterCap = .seconds(10) })),
            Ping(timeout: .seconds(1), deadline: .seconds(10))
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
            "a factory of one's own",
            service(AnyRetrierFactory { NilRetrier() }),
            Ping(timeout: .seconds(9), deadline: .seconds(1))
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
        Case("suggestions", service(), Ping(timeout: .milliseconds(500), deadline: .seconds(2))),
        Case("an order of the guide", service(), Ping(timeout: .seconds(5), deadline: .seconds(30))),
        Case(
            "authorized",
            Computed(makeFactory: { [coordinator = RefreshCoordinator(credential: Token(number: 1)) { $0 }] in
                .composed(
                    AuthorizationRetrier.factory(coordinator),
                    BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
                )
            })
        ),
        Case(
            "two retriers with budgets of their own",
            service(
                .composed(
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
        Case("hedging anew", Computed(makeInterceptors: { [Hedging(after: .fixed(.seconds(1)))] })),
        Case(
            "hedging in time",
            service(hedging: Hedging(after: .fixed(.nanoseconds(999)))),
            Ping(timeout: .microseconds(1))
        ),
        Case(
            "hedging that is not wanted",
            service(hedging: Hedging(after: .fixed(.seconds(1)))),
            Ping(timeout: .seconds(1), allowsHedging: false)
        ),
        Case(
            "stateless interceptors anew",
            Computed(makeInterceptors: { [IdempotencyKeys(), RequestTimeoutHeader()] })
        ),
        Case("an interceptor of one's own anew", Computed(makeInterceptors: { [OwnInterceptor()] })),
        Case(
            "a POST with keys of one's own, of which nothing is known",
            service(interceptors: [OwnKeys()]),
            .hurriedPost()
        ),
    ]
}

/// A service whose properties make what they return, whenever they are read, unless it is handed in.
struct Computed: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com" }
    var makeInterceptors: @Sendable () -> [any HttpInterceptor] = { [] }
    var makeFactory: @Sendable () -> any RetrierFactory = { BackoffRetrier.factory() }
    var makeTransport: @Sendable () -> any HttpTransport = { URLSessionTransport.shared }

    var interceptors: [any HttpInterceptor] { makeInterceptors() }
    var retrierFactory: any RetrierFactory { makeFactory() }
    var transport: any HttpTransport { makeTransport() }
}

final class OwnInterceptor: CallInterceptor {
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await next(request)
    }
}

extension Ping {
    /// A POST like that of a token endpoint.
    static func hurriedPost() -> Ping {
        Ping(method: .post, timeout: .seconds(20), deadline: .seconds(25))
    }
}

extension ConcurrencyLimit {
    static let shared = ConcurrencyLimit(8)
}

final class OwnPacing: NetworkInterceptor {
    private let passed = Locked(0)

    var networkStage: InterceptorTier.NetworkStage { .waitingForServer }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        passed.withLock { $0 += 1 }
        return try await next(request)
    }
}

struct OwnKeys: CallInterceptor {
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        request.header[.idempotencyKey] = "key"
        return try await next(request)
    }
}

final class OwnTransport: HttpTransport {
    private let sent = Locked(0)

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        sent.withLock { $0 += 1 }
        return HttpResponse(status: 200, header: [:], body: Data(), url: request.url)
    }
}

struct WrappingTransport: HttpTransport {
    let base: any HttpTransport

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        try await base.send(request, context: context)
    }
}
