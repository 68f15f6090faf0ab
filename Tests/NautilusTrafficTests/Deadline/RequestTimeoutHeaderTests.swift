import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("An interceptor that reports the remaining time")
struct RequestTimeoutHeaderTests {
    /// The field's value for an attempt with these limits.
    private func field(
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        unit: RequestTimeoutHeader.Unit = .milliseconds,
        header: HttpHeader = [:]
    ) async throws -> String? {
        let context = AttemptContext(serviceOrigin: try testOrigin(), timeout: timeout, remaining: remaining)
        let request = HttpRequest(url: try .reading("https://api.example.com"), header: header)
        let seen = Locked<String?>(nil)
        let next = AttemptContext.Next { request in
            seen.withLock { $0 = request.header["X-Request-Timeout"] }
            return HttpResponse(body: Data())
        }
        _ = try await RequestTimeoutHeader(unit: unit).intercept(request, context: context, next: next)
        return seen.withLock { $0 }
    }

    @Test(
        "the shorter limit, in whole units, rounded down, at least 1",
        arguments: [
            (.seconds(10), nil, "10000", "10"),
            (nil, .milliseconds(2_500), "2500", "2"),
            (.seconds(10), .milliseconds(1_999), "1999", "1"),
            (.seconds(1), .seconds(60), "1000", "1"),
            (nil, .nanoseconds(1_999_999), "1", "1"),
            (nil, .nanoseconds(2_000_000), "2", "1"),
            (nil, .nanoseconds(1), "1", "1"),
            (nil, .zero, "1", "1"),
            (nil, .seconds(-5), "1", "1"),
            (.seconds(Int64.max), nil, "3155760000000", "3155760000"),
            (nil, nil, nil, nil),
        ] as [(Duration?, Duration?, String?, String?)]
    )
    func limits(timeout: Duration?, remaining: Duration?, milliseconds: String?, seconds: String?) async throws {
        #expect(try await field(timeout: timeout, remaining: remaining) == milliseconds)
        #expect(try await field(timeout: timeout, remaining: remaining, unit: .seconds) == seconds)
    }

    @Test("a field that the request has stays")
    func ownField() async throws {
        #expect(try await field(timeout: .seconds(10), header: ["X-Request-Timeout": "7"]) == "7")
    }

    @Test("the timeout header shrinks from attempt to attempt, and by the waits of interceptors before it")
    func inCalls() async throws {
        struct Waiting: NetworkInterceptor {
            let clock: ManualClock
            func intercept(
                _ request: HttpRequest,
                context: AttemptContext,
                next: Next
            ) async throws -> HttpResponse<Data> {
                try await clock.sleep(for: .milliseconds(300))
                return try await next(request)
            }
        }
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Waiting(clock: simulation.clock), RequestTimeoutHeader(name: "X-Left")],
                retrierFactory: steadyBackoff(),
                transport: transport,
                clock: simulation.clock
            )
            _ = try await Ping(timeout: .milliseconds(1_500), deadline: .seconds(2)).schedule(with: service)
        }
        // 2 s less 300 ms is more than the timeout; then 300 ms, 500 ms of backoff and 300 ms have gone.
        #expect(transport.attempts.map { $0.header["X-Left"] } == ["1500", "900"])
    }
}
