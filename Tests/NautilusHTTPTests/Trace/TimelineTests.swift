import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The timeline of a trace")
struct TimelineTests {
    private static func attempt(
        _ number: Int,
        at start: Duration = .zero,
        took duration: Duration = .milliseconds(12),
        _ outcome: CallTrace.Outcome,
        _ decision: CallTrace.Decision? = nil
    ) -> CallTrace.Attempt {
        .init(number: number, start: start, duration: duration, outcome: outcome, decision: decision)
    }

    @Test("a printed trace is a timeline")
    func timeline() throws {
        var trace = CallTrace()
        let origin = try #require(HttpOrigin(.reading("https://api.example.com")))
        trace.request = RequestSummary(
            HttpRequest(url: try .reading("https://api.example.com/notes?token=secret")),
            serviceOrigin: origin
        )
        trace.duration = .milliseconds(1_262)
        trace.attempts = [
            Self.attempt(
                1,
                .failed(.validate, .status(503), .maybeExecuted),
                .init(
                    retrier: "BackoffRetrier",
                    action: .retry(after: .milliseconds(450)),
                    reason: .backoff(retry: 1)
                )
            ),
            Self.attempt(
                2,
                at: .milliseconds(462),
                took: .milliseconds(9),
                .failed(.validate, .status(401), .rejected),
                .init(
                    retrier: "AuthorizationRetrier",
                    action: .retry(after: .zero),
                    reason: .credentialReplaced(generation: 2)
                )
            ),
            Self.attempt(3, at: .milliseconds(521), took: .milliseconds(741), .succeeded(status: 200)),
        ]
        #expect(trace.retries == 2)
        #expect(
            trace.description == """
                GET https://api.example.com/notes: 3 attempts in 1.262 s
                  #1  at 0 ms       status 503 after 12 ms (maybeExecuted)
                      BackoffRetrier: retry in 450 ms (backoff, retry 1)
                  #2  at 462 ms     status 401 after 9 ms (rejected)
                      AuthorizationRetrier: retry at once (credential replaced, generation 2)
                  #3  at 521 ms     200 after 741 ms
                """
        )
        #expect(String(reflecting: trace) == trace.description)
    }

    @Test("failures other than a status say where, and decisions other than a retry what")
    func others() {
        var trace = CallTrace()
        trace.duration = .seconds(3)
        trace.attempts = [
            Self.attempt(
                10,
                .failed(.send, .transport(.timedOut), .maybeExecuted),
                .init(retrier: "Call", action: .stop, reason: .deadline(remaining: .milliseconds(5)))
            ),
            Self.attempt(
                1000,
                at: .milliseconds(123_456_789),
                .failed(.intercept, .status(503), .maybeExecuted),
                .init(retrier: "Own", action: .fail, reason: nil)
            ),
        ]
        #expect(
            trace.description == """
                no request: 2 attempts in 3 s
                  #10 at 0 ms       timed out (URLError -1001), in send, after 12 ms (maybeExecuted)
                      Call: no retry (only 5 ms left until the deadline)
                  #1000 at 123456.789 s  status 503, in intercept, after 12 ms (maybeExecuted)
                      Own: gave up
                """
        )
    }

    @Test("an empty trace and one of a single attempt read well, too")
    func short() {
        var trace = CallTrace()
        #expect(trace.description == "no request: 0 attempts in 0 ms")
        #expect(trace.retries == 0)
        trace.attempts = [Self.attempt(1, .succeeded(status: 204))]
        #expect(trace.description == "no request: 1 attempt in 0 ms\n  #1  at 0 ms       204 after 12 ms")
        #expect(trace.retries == 0)
    }

    @Test(
        "every reason says why in a few words",
        arguments: [
            (.backoff(retry: 2), "backoff, retry 2"),
            (.retryAfter(.seconds(2)), "Retry-After 2 s"),
            (.gate(.milliseconds(1_500)), "the origin asked all calls to pause, 1.500 s left"),
            (.circuitOpen(.seconds(4)), "the circuit is open for 4 s"),
            (.online(after: .seconds(12)), "online again after 12 s"),
            (.stillOffline(after: .seconds(60)), "still offline after 60 s"),
            (.credentialReplaced(generation: 3), "credential replaced, generation 3"),
            (.notRetryable("status 404"), "status 404"),
            (.mayHaveExecuted, "the server may have acted on it, and it is not idempotent"),
            (.attemptsUsed(4), "all 4 attempts used"),
            (.budget, "the retry budget is used up"),
            (.retryAfterOverCap(.seconds(3600), cap: .seconds(60)), "Retry-After 3600 s is over the cap of 60 s"),
            (.deadline(remaining: .zero), "only 0 ms left until the deadline"),
            (
                .cannotFinish(remaining: .milliseconds(100), usual: .milliseconds(400)),
                "only 100 ms left for an attempt that usually takes 400 ms"
            ),
            (.bodySpent, "the one-shot body has been read"),
            (.cancelled, "cancelled"),
            (.ceiling(100), "100 attempts are the service's limit"),
            (.custom("own"), "own"),
        ] as [(RetryReason, String)]
    )
    func reasons(reason: RetryReason, expected: String) {
        #expect(reason.description == expected)
    }

    @Test("an attempt tells of its subrequests and redirects, and not of the exchange that its own line tells of")
    func exchanges() throws {
        let url = try URL.reading("https://api.example.com/notes")
        let origin = try #require(HttpOrigin(url))
        let exchanges = try [CallTrace.Exchange.Role.subrequest, .main, .redirect].enumerated().map { index, role in
            CallTrace.Exchange(
                call: 1,
                number: index + 1,
                root: index + 1,
                attempt: 1,
                role: role,
                request: try #require(RequestSummary(HttpRequest(url: url), serviceOrigin: origin)),
                start: .zero,
                duration: .milliseconds(3),
                outcome: .answered(status: 204),
                delivery: .maybeExecuted
            )
        }
        var trace = CallTrace()
        var attempt = Self.attempt(1, .succeeded(status: 200))
        attempt.exchanges = exchanges
        trace.attempts = [attempt]
        #expect(
            trace.description == """
                no request: 1 attempt in 0 ms
                  #1  at 0 ms       200 after 12 ms
                      subrequest: GET https://api.example.com/notes: 204 after 3 ms
                      redirect: GET https://api.example.com/notes: 204 after 3 ms
                """
        )
    }
}
