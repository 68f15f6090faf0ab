import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The effect of a Retry-After on a call")
struct RetryAfterRetryTests {
    @Test(
        "A6: an attempt never comes before Retry-After: 2, and is drawn in as much time again",
        arguments: [0, 0.5, 1]
    )
    func seconds(draw: Double) async throws {
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.budget = .unlimited
                $0.random = FixedRandomSource(draw)
            }
        )
        let outcome = try await outcome(of: Ping.get, retrier: retrier) { clock in
            ScriptedTransport(.status(429, header: ["Retry-After": "2"]), .reply(text: "ok"), clock: clock)
        }
        #expect(outcome.attempts == 2)
        #expect(outcome.trace.attempts.last?.start == .seconds(2) + .seconds(2) * draw)
        #expect(outcome.trace.attempts[0].decision?.reason == .retryAfter(.seconds(2)))
    }

    @Test("a call that is rejected again comes back within twice as much time, and within 10 s")
    func sentAwayAgain() async throws {
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.maxAttempts = 7
                $0.budget = .unlimited
                $0.random = FixedRandomSource(1)
            }
        )
        let transport = ScriptedTransport { _, context in
            context.number == 7 ? .reply(text: "ok") : .status(429, header: ["Retry-After": "1"])
        }
        let outcome = try await outcome(of: Ping.get, retrier: retrier, transport)
        // From the sixth retry on the schedule asks for longer.
        #expect(outcome.delays == [2, 3, 5, 9, 11, 16].map { .seconds($0) })
    }

    @Test(
        "the draw leaves half of the time until the deadline to the attempt",
        arguments: [(4_000_000, 3_000_000), (6_000_000, 4_000_000), (2_001_000, 2_000_500)]
    )
    func drawnBeforeDeadline(deadline: Int, delay: Int) async throws {
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.budget = .unlimited
                $0.random = FixedRandomSource(1)
            }
        )
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "2"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping(deadline: .microseconds(deadline)), retrier: retrier, transport)
        #expect(outcome.delays == [.microseconds(delay)])
    }

    @Test("a schedule without jitter, and one behind a gate, waits for exactly as long as the server has said")
    func exact() async throws {
        for retrier in [
            BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .exponential(jitter: .none)
                    $0.random = FixedRandomSource(1)
                }
            ),
            BackoffRetrier.factory(
                .standard.with {
                    $0.gate = OpenGate()
                    $0.random = FixedRandomSource(1)
                }
            ),
        ] {
            let transport = ScriptedTransport(.status(429, header: ["Retry-After": "2"]), .reply(text: "ok"))
            #expect(try await outcome(of: Ping.get, retrier: retrier, transport).delays == [.seconds(2)])
        }
    }

    @Test("a decorrelated schedule is jitter, too: whoever is sent away is drawn in as much time again")
    func decorrelated() async throws {
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .decorrelated()
                $0.throttlingBackoff = nil
                $0.random = FixedRandomSource(1)
            }
        )
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "2"]), .reply(text: "ok"))
        #expect(try await outcome(of: Ping.get, retrier: retrier, transport).delays == [.seconds(4)])
    }

    @Test("a schedule that asks for longer than Retry-After is kept")
    func scheduleIsLonger() async throws {
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.seconds(7), jitter: .none)
                $0.budget = .unlimited
            }
        )
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "2"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, retrier: retrier, transport)
        #expect(outcome.delays == [.seconds(7)])
    }

    @Test(
        "A7: a date is measured against the response's own Date, in all three formats, whatever the server's clock",
        arguments: [
            "Sun, 22 Nov 2026 13:00:03 GMT", "Sunday, 22-Nov-26 13:00:03 GMT", "Sun Nov 22 13:00:03 2026",
        ]
    )
    func date(_ date: String) async throws {
        let transport = ScriptedTransport(
            .status(503, header: ["Retry-After": date, "Date": "Sun, 22 Nov 2026 13:00:00 GMT"]),
            .reply(text: "ok")
        )
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.delays == [.seconds(3)])
    }

    @Test(
        "A8: a date in the past, or zero, leaves the schedule's delay",
        arguments: ["0", "Sun, 22 Nov 2020 13:00:03 GMT"]
    )
    func past(_ value: String) async throws {
        let transport = ScriptedTransport(
            .status(503, header: ["Retry-After": value, "Date": "Sun, 22 Nov 2026 13:00:00 GMT"]),
            .reply(text: "ok")
        )
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.delays == [.milliseconds(500)])
    }

    @Test(
        "A9: an unreadable Retry-After is ignored",
        arguments: ["-1", "abc", "1.5s", "", String(repeating: "x", count: 1_000_000), "2 seconds", "٣"]
    )
    func garbage(_ value: String) async throws {
        let transport = ScriptedTransport(.status(503, header: ["Retry-After": value]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.delays == [.milliseconds(500)])
    }

    @Test(
        "A9: a number too large to be meant ends the call, with the hint",
        arguments: ["99999999999999999999", String(repeating: "9", count: 1_000_000)]
    )
    func huge(_ value: String) async throws {
        let transport = ScriptedTransport(.status(503, header: ["Retry-After": value]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.kind == .status(503))
        #expect(outcome.error?.retryAfter == HttpHeader.longestRetryAfter)
        #expect(transport.count == 1)
    }

    @Test("A10: Retry-After: 60 with a deadline in 30 s surfaces the 429 at once, and nothing is slept")
    func pastDeadline() async throws {
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "60"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping(deadline: .seconds(30)), transport)
        #expect(outcome.error?.kind == .status(429))
        #expect(outcome.error?.retryAfter == .seconds(60))
        #expect(outcome.lastReason == .deadline(remaining: .seconds(30)))
        #expect(outcome.end == .zero)
        #expect(transport.count == 1)
    }

    @Test("A11: Retry-After: 3600 is over the cap of 60 s: the call fails at once, the hint exposed")
    func overCap() async throws {
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "3600"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.retryAfter == .seconds(3600))
        #expect(outcome.lastReason == .retryAfterOverCap(.seconds(3600), cap: .seconds(60)))
        #expect(outcome.end == .zero)
        #expect(transport.count == 1)
    }

    @Test("Retry-After of exactly the cap is waited for")
    func atCap() async throws {
        let transport = ScriptedTransport(.status(429, header: ["Retry-After": "60"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.delays == [.seconds(60)])
    }

    @Test("a POST that meets 503 with Retry-After was rejected, and is retried")
    func rejectedPost() async throws {
        let transport = ScriptedTransport(.status(503, header: ["Retry-After": "1"]), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.delays == [.seconds(1)])
    }
}

/// Holds nothing back.
private struct OpenGate: RetryGate {
    func pass(to origin: HttpOrigin) async throws {}
    func close(_ origin: HttpOrigin, for pause: Duration) {}
    func remainingPause(of origin: HttpOrigin) -> Duration { .zero }
}
