import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic
@testable import NautilusURLSession

/// A service, a request on it, and what is to be found; `service` is what the service alone shows.
extension DiagnosisCase {
    static let contradictions: [Case] = [
        Case(
            "attempts that do not fit",
            service(),
            Ping(timeout: .nanoseconds(15_000_000_001), deadline: .seconds(60)),
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
            Ping(timeout: .seconds(2), deadline: .nanoseconds(7_499_999_999)),
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
                .composed(
                    BackoffRetrier.factory(
                        .standard.with {
                            $0.maxAttempts = 2
                            $0.budget = .shared(TokenBucketBudget())
                        }
                    ),
                    BackoffRetrier.factory(.standard.with { $0.maxAttempts = 3 })
                )
            ),
            Ping(timeout: .seconds(2), deadline: .nanoseconds(7_999_999_999)),
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
            Ping(timeout: .seconds(1), deadline: .seconds(29)),
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
            Ping(timeout: .seconds(1), deadline: .seconds(5)),
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
            service(.composed(BackoffRetrier.factory(), BackoffRetrier.factory())),
            finds: .budgetFilledTwice
        ),
        Case(
            "a hedge after the timeout",
            service(hedging: Hedging(after: .fixed(.seconds(1)))),
            Ping(timeout: .seconds(1)),
            finds: .hedgeTooLate(after: .seconds(1), limit: .seconds(1))
        ),
        Case(
            "a hedge after the deadline",
            AnyHttpService(apiUrl: "a.example").with {
                $0.interceptors = [Hedging(after: .observed(atLeast: .seconds(3)))]
            },
            Ping(timeout: .seconds(5), deadline: .seconds(2)),
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
            Computed(makeInterceptors: { [Hedging(after: .observed(), latencies: OriginLatencies())] }),
            finds: .madeAnew(type: "OriginLatencies", property: "interceptors")
        ),
        Case(
            "connections anew",
            Computed(makeTransport: { URLSessionTransport() }),
            finds: .madeAnew(type: "URLSessionTransport", property: "transport")
        ),
        Case(
            "a pacing of one's own, anew",
            Computed(makeInterceptors: { [OwnPacing(), ConcurrencyLimit.shared] }),
            finds: .madeAnew(type: "OwnPacing", property: "interceptors")
        ),
        Case(
            "connections of one's own anew",
            Computed(makeTransport: { OwnTransport() }),
            finds: .madeAnew(type: "OwnTransport", property: "transport")
        ),
        Case(
            "connections of one's own in another transport, anew",
            Computed(makeTransport: { WrappingTransport(base: OwnTransport()) }),
            finds: .madeAnew(type: "OwnTransport", property: "transport")
        ),
        Case(
            "a script anew",
            Computed(makeTransport: { ScriptedTransport() }),
            finds: .madeAnew(type: "ScriptedTransport", property: "transport")
        ),
        Case(
            "a memory among composed hooks, anew",
            service().with {
                $0.hook = NilServiceHook().around(CachingServiceHook(for: .seconds(1)) { "anna" })
            },
            finds: .madeAnew(type: "CachingServiceHook", property: "hook")
        ),
    ]
}
