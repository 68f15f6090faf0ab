import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Timeout and deadline")
struct DeadlineTests {
    @Test("A17: timeout 1 s, deadline 2.5 s, silent server: the call ends at 2.5 s, after three attempts")
    func silentServer() async throws {
        let atOnce = ScriptedRetrier.factory { _, _ in true }
        let transport = ScriptedTransport(.hang, afterLast: .repeat)
        let outcome = try await outcome(
            of: Ping(timeout: .seconds(1), deadline: .milliseconds(2500)),
            retrier: atOnce,
            transport
        )
        #expect(outcome.end == .milliseconds(2500))
        #expect(outcome.error?.kind == .deadline(.milliseconds(2500)))
        #expect(outcome.attempts == 3)
        #expect(outcome.trace.attempts.map(\.start) == [.zero, .seconds(1), .seconds(2)])
        #expect(outcome.trace.attempts[0].outcome == .failed(.send, .timeout(.seconds(1)), .maybeExecuted))
        #expect(transport.inFlightCount == 0)
    }

    @Test("A18: a delay that would pass the deadline is not slept, and the last real error surfaces")
    func delayPastDeadline() async throws {
        let transport = ScriptedTransport(.status(503), .status(502), .reply(text: "never"))
        let outcome = try await outcome(of: Ping(deadline: .seconds(1)), transport)
        #expect(outcome.error?.kind == .status(502))
        #expect(outcome.end == .milliseconds(500))
        #expect(outcome.lastReason == .deadline(remaining: .milliseconds(500)))
        #expect(transport.count == 2)
    }

    @Test(
        "a delay that ends before the deadline is slept; one that ends with it is not",
        arguments: [(501, 2), (500, 1)]
    )
    func boundary(deadline: Int, attempts: Int) async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping(deadline: .milliseconds(deadline)), transport)
        #expect(outcome.attempts == attempts)
    }

    @Test(
        "a retrier of one's own that asks for exactly the time that is left gets no attempt, one that asks for less does",
        arguments: [(1000, 1), (999, 2)]
    )
    func boundaryOfTheCall(delay: Int, attempts: Int) async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let retrier = ScriptedRetrier.factory { _, _ in .retry(after: .milliseconds(delay)) }
        let outcome = try await outcome(of: Ping(deadline: .seconds(1)), retrier: retrier, transport)
        #expect(outcome.attempts == attempts)
        #expect(outcome.end == (attempts == 1 ? .zero : .milliseconds(999)))
        if attempts == 1 { #expect(outcome.lastReason == .deadline(remaining: .seconds(1))) }
    }

    @Test("a timeout is retried on a GET, and not on a POST, which may have been executed")
    func timeoutIsRetried() async throws {
        for (request, count) in [(Ping(timeout: .seconds(1)), 2), (Ping(method: .post, timeout: .seconds(1)), 1)] {
            let transport = ScriptedTransport(.hang, .reply(text: "ok"))
            let outcome = try await outcome(of: request, transport)
            #expect(transport.count == count)
            #expect((outcome.response == nil) == (count == 1))
        }
    }

    @Test(
        "an answer that comes before the timeout is used, to the nanosecond",
        arguments: [999_999_999, 1_000_000_001]
    )
    func answerInTime(delay: Int) async throws {
        let outcome = try await outcome(of: Ping(timeout: .seconds(1)), retrier: .never) { clock in
            ScriptedTransport(.delay(.nanoseconds(delay), then: .reply(text: "ok")), clock: clock)
        }
        #expect((outcome.response?.body == "ok") == (delay < 1_000_000_000))
        #expect(outcome.end == min(.nanoseconds(delay), .seconds(1)))
    }

    @Test("a failure that comes with the timeout is not taken for one")
    func failureAtTheLimit() async throws {
        let transport = ScriptedTransport { _, _ in
            // Woken by the timeout, it reports what it had found.
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            throw TransportError.failed(.serverCertificateUntrusted, delivery: .notSent, reason: "not trusted")
        }
        let outcome = try await outcome(of: Ping(timeout: .seconds(1)), transport)
        #expect(outcome.error?.kind == .transport(.serverCertificateUntrusted))
        #expect(outcome.attempts == 1)
    }

    @Test("waiting for a credential does not use up the attempt's timeout")
    func timeoutIsTheExchange() async throws {
        let body = try await simulate { simulation in
            let clock = simulation.clock
            let credential = AwaitedCredential { try await clock.sleep(for: .seconds(5)) }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: AnyRetrierFactory.authorizing(with: credential),
                transport: ScriptedTransport(.reply(text: "ok")),
                clock: clock
            )
            return try await Ping(timeout: .seconds(1)).schedule(with: service)
        }
        #expect(body == "ok")
    }

    @Test("a deadline ends the waiting for a credential, too")
    func deadlineInPrepare() async throws {
        struct Stuck: Retrier {
            let credentials: [any CallCredential] = [
                AwaitedCredential {
                    for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
                    throw CancellationError()
                }
            ]
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { true }
        }
        let transport = ScriptedTransport(.reply(text: "never"))
        let outcome = try await outcome(
            of: Ping(deadline: .seconds(3)),
            retrier: AnyRetrierFactory { Stuck() },
            transport
        )
        #expect(outcome.end == .seconds(3))
        #expect(outcome.error?.kind == .deadline(.seconds(3)))
        #expect(outcome.error?.stage == .prepare)
        #expect(transport.count == 0)
    }

    @Test("a timeout or deadline of nothing is refused before anything is sent")
    func notPositive() async throws {
        let transport = ScriptedTransport(.reply(text: "never"))
        let timeout = try await outcome(of: Ping(timeout: .zero), transport)
        #expect(timeout.error?.kind == .invalidRequest(.notPositive(parameter: "timeout")))
        let deadline = try await outcome(of: Ping(deadline: .zero), transport)
        #expect(deadline.error?.kind == .invalidRequest(.notPositive(parameter: "deadline")))
        #expect(transport.count == 0)
    }

    @Test("queueing for a connection does not use up the timeout, to the nanosecond", arguments: [3, 10, 25])
    func connectionWait(seconds: Int) async throws {
        let outcome = try await outcome(of: Ping(timeout: .seconds(10)), retrier: .never) { clock in
            ScriptedTransport(clock: clock) { _, context in
                context.beginWaitingForConnection()
                try await clock.sleep(for: .seconds(seconds))
                context.endWaitingForConnection()
                return .hang
            }
        }
        #expect(outcome.error?.kind == .timeout(.seconds(10)))
        #expect(outcome.end == .seconds(seconds + 10))
    }

    @Test("a deadline covers the line, and the hook")
    func deadlineCoversAll() async throws {
        let outcome = try await outcome(of: Ping(timeout: .seconds(1), deadline: .seconds(7))) { clock in
            ScriptedTransport(clock: clock) { _, context in
                context.beginWaitingForConnection()
                return .hang
            }
        }
        #expect(outcome.error?.kind == .deadline(.seconds(7)))
        #expect(outcome.end == .seconds(7))
    }

    @Test("a hook that takes too long meets the deadline")
    func slowHook() async throws {
        struct Slow: ServiceHook {
            let clock: ManualClock
            func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
                try await clock.sleep(for: .seconds(60))
                return nil
            }
        }
        try await simulate { simulation in
            let transport = ScriptedTransport()
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: transport,
                clock: simulation.clock
            ).with { $0.hook = Slow(clock: simulation.clock) }
            let error = await #expect(throws: HttpError.self) {
                try await Ping(deadline: .seconds(2)).schedule(with: service)
            }
            #expect(error?.kind == .deadline(.seconds(2)))
            #expect(error?.stage == .hook)
            #expect(simulation.clock.now.offset == .seconds(2))
            #expect(transport.count == 0)
        }
    }
}
