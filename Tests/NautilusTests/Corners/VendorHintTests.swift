import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Vendors' fields for the time to wait")
struct VendorHintTests {
    private static let hints: [(HttpHeader, Duration)] = [
        (["Retry-After": "2"], .seconds(2)), (["Retry-After": "0.5"], .seconds(1)),
        (["retry-after-ms": "2500"], .milliseconds(2_500)), (["x-ms-retry-after-ms": "2500"], .milliseconds(2_500)),
        (["x-amz-retry-after": "2500"], .milliseconds(2_500)),
        (["Retry-After": "3", "retry-after-ms": "2500"], .seconds(3)),
    ]

    @Test("F8: a POST answered 503 or 529 with any hint was rejected, and is sent again when it says", arguments: hints)
    func hinted(header: HttpHeader, wait: Duration) async throws {
        for status in [503, 529] {
            let transport = ScriptedTransport(.status(status, header: header), .reply(status: 201, text: "made"))
            let outcome = try await outcome(of: Ping.post, transport)
            #expect(outcome.response?.status == 201)
            #expect(outcome.delays == [wait])
            #expect(outcome.trace.attempts[0].outcome == .failed(.validate, .status(status), .rejected))
        }
    }

    @Test("F8: a POST answered 503 or 529 without a hint may have been executed, and is not sent again")
    func unhinted() async throws {
        for status in [503, 529] {
            let transport = ScriptedTransport(.status(status, header: ["retry-after-ms": "soon"]), .status(201))
            let outcome = try await outcome(of: Ping.post, transport)
            #expect(outcome.error?.kind == .status(status))
            #expect(outcome.error?.delivery == .maybeExecuted)
            #expect(outcome.lastReason == .mayHaveExecuted)
        }
    }

    private struct Api: HttpService {
        let transport: any HttpTransport
        let clock: any Clock<Duration>
        var unit = RetryAfterField.Unit.seconds
        var apiUrl: any UrlConvertible { "api.example.com" }
        var retrierFactory: any RetrierFactory { steadyBackoff() }
        var retryAfterField: RetryAfterField? { RetryAfterField("X-Backoff", in: unit) }
    }

    private struct Wrapped: HttpService {
        typealias RequestError = HttpError
        let forwarded: any HttpService
        var apiUrl: any UrlConvertible { forwarded.apiUrl }
        var configuration: ServiceConfiguration { forwarded.configuration }
    }

    @Test("F8: a service's own field counts like Retry-After, in its unit, also if the service is wrapped or changed")
    func ownField() async throws {
        try await simulate { (simulation) async throws -> Void in
            let clock = simulation.clock
            let rejection = ScriptedReply.status(529, header: ["x-backoff": "2.5"])
            let replies = ScriptedTransport { _, context in context.number == 1 ? rejection : .reply(text: "ok") }
            let api = Api(transport: replies, clock: clock)
            let longer = ScriptedReply.status(529, header: ["x-backoff": "2500"])
            let slower = ScriptedTransport { _, context in context.number == 1 ? longer : .reply(text: "ok") }
            let inMilliseconds = Api(transport: slower, clock: clock, unit: .milliseconds)
            let none = api.with { $0.retryAfterField = nil }
            let own = none.with { $0.retryAfterField = RetryAfterField("X-Backoff", in: .seconds) }
            let changed = api.with { $0.maxAttempts = 5 }
            for (service, wait) in [
                (AnyHttpService(api), .seconds(3)), (AnyHttpService(inMilliseconds), .milliseconds(2500)),
                (AnyHttpService(Wrapped(forwarded: api)), .seconds(3)), (own, .seconds(3)),
                (changed, .seconds(3)),
            ] as [(AnyHttpService<HttpError>, Duration)] {
                let start = clock.now
                let text = try await Ping.post.schedule(with: service)
                #expect(text == "ok")
                #expect(start.duration(to: clock.now) == wait)
            }
            let error = await #expect(throws: HttpError.self) { try await Ping.post.schedule(with: none) }
            #expect((error?.delivery, error?.retryAfter) == (.maybeExecuted, nil))
        }
    }

    @Test("F8: the longest of a service's own field and the others counts, and an unreadable one says nothing")
    func longest() async throws {
        for (header, wait) in [
            (["Retry-After": "4", "X-Backoff": "2"], .seconds(4)),
            (["Retry-After": "1", "X-Backoff": "2"], .seconds(2)),
            (["X-Backoff": "soon"], nil), (["X-Backoff": "99999999999999999999"], .seconds(4_294_967_295)),
        ] as [(HttpHeader, Duration?)] {
            let api = Api(transport: ScriptedTransport(.status(429, header: header)), clock: ManualClock())
                .with { $0.retrierFactory = .never }
            let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: api) }
            #expect(error?.retryAfter == wait)
        }
    }

    @Test("F8: a hint in milliseconds holds back the next call, and a 529 counts for a breaker, as a 503 does")
    func traffic() async throws {
        for status in [503, 529] {
            try await simulate { simulation in
                let clock = simulation.clock
                let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 1), clock: clock)
                let transport = ScriptedTransport(
                    .status(status, header: ["X-Backoff": "1500"]),
                    .reply(text: "ok"),
                    .status(status),
                    clock: clock
                )
                let pacing = Pacing(clock: clock, random: FixedRandomSource(0))
                let api = Api(transport: transport, clock: clock, unit: .milliseconds).with {
                    $0.retrierFactory = .never
                    $0.interceptors = [pacing]
                }
                _ = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: api) }
                let start = clock.now
                let text = try await Ping.get.schedule(with: api)
                #expect(text == "ok")
                #expect(start.duration(to: clock.now) >= .milliseconds(1_500))
                #expect(start.duration(to: clock.now) < .milliseconds(1_600))
                let guarded = api.with { $0.interceptors = [breaker] }
                _ = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: guarded) }
                let refused = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: guarded) }
                #expect(refused?.isRefusal == true)
            }
        }
    }

    @Test(
        "F8: x-should-retry is followed only by choice; false stops any status, and true retries any",
        arguments: [
            (503, "false", true, false), (429, "False", true, false), (400, "true", false, true),
            (409, " TRUE ", false, true), (503, "perhaps", true, true), (404, "perhaps", false, false),
            (503, "true, false", true, false),
        ] as [(Int, String, Bool, Bool)]
    )
    func shouldRetry(status: Int, value: String, byDefault: Bool, byChoice: Bool) async throws {
        let choice = RetryCondition.standard.followingShouldRetry()
        for (condition, isRetried) in [(RetryCondition.standard, byDefault), (choice, byChoice)] {
            let transport = ScriptedTransport(
                .status(status, header: ["x-should-retry": value]),
                .reply(text: "ok")
            )
            let retrier = BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.condition = condition
                }
            )
            let outcome = try await outcome(of: Ping.get, retrier: retrier, transport)
            #expect((outcome.response != nil) == isRetried)
        }
    }

    @Test("F8: x-should-retry: true does not repeat a request that may have been executed")
    func shouldRetryUnsafe() async throws {
        let header: HttpHeader = ["x-should-retry": "true"]
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.budget = .unlimited
                $0.condition = .standard.followingShouldRetry()
            }
        )
        let unsafe = ScriptedTransport(.status(500, header: header), .status(201))
        let first = try await outcome(of: Ping.post, retrier: retrier, unsafe)
        #expect((first.error?.kind, first.attempts) == (.status(500), 1))
        let keyed = ScriptedTransport(.status(409, header: header), .reply(status: 201, text: "made"))
        let second = try await outcome(of: Ping.keyedPost, retrier: retrier, keyed)
        #expect(second.response?.status == 201)
    }
}
