import Foundation
import Nautilus
import NautilusTraffic

/// The cost of interceptors that hold requests back while nothing fails and no call waits, against the same call without.
enum TrafficSuite {
    static let all: [any Measurable] = [
        call("an interceptor that does nothing", [PassOn()]),
        call("circuit breaker", [CircuitBreaker()]),
        call("concurrency limit", [ConcurrencyLimit(64)]),
        call("pacing, no limits told", [Pacing()]),
        call("pacing, limits told", [Pacing()], .limited),
        call("chaos, off", [Chaos(seed: 1, .failure(rate: 0.1))]),
        call("limit, pacing and breaker", [ConcurrencyLimit(64), Pacing(), CircuitBreaker()]),
        compare("the defaults: backoff and its budget", .instant.with(BackoffRetrier.factory())),
        compare(
            "backoff, budget, limit, pacing and breaker",
            .instant.with(BackoffRetrier.factory()).with([ConcurrencyLimit(64), Pacing(), CircuitBreaker()])
        ),
        compare("hedging, fixed, nothing slow", .instant.with(Hedging(after: .fixed(.seconds(1))))),
        compare(
            "hedging, observed, nothing slow",
            .instant.with(Hedging(after: .observed(atLeast: .seconds(1)), latencies: OriginLatencies()))
        ),
    ]

    private static func call(
        _ name: String,
        _ interceptors: [any HttpInterceptor],
        _ bare: NotesService = .instant
    ) -> Comparison {
        compare(name, bare.with(interceptors), with: bare)
    }

    private static func compare(
        _ name: String,
        _ service: NotesService,
        with bare: NotesService = .instant
    ) -> Comparison {
        Comparison(
            group: "Holding requests back, when there is no need to",
            name: name,
            metrics: [.cpu, .allocations],
            subject: Subject(name) { _ = try await GetBytes().schedule(with: service) },
            baseline: Subject("nothing on") { _ = try await GetBytes().schedule(with: bare) }
        )
    }
}

extension NotesService {
    /// A service whose answers come at once, and say that there is plenty left.
    fileprivate static let limited = NotesService(
        apiUrl: "https://api.example.com/v1",
        transport: InstantTransport(
            adding: ["RateLimit": "\"default\";r=1000000;t=60", "RateLimit-Policy": "\"default\";q=1000000;w=60"]
        )
    )
}
