import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Several retriers as one")
struct ComposedRetrierTests {
    private static let own = HttpError(.authorization, stage: .retry)

    private static func recording(_ decision: RetryDecision, _ asked: Counter) -> AnyRetrierFactory {
        ScriptedRetrier.factory { count, _ in
            asked.increment()
            return count == 0 ? decision : .doNotRetry
        }
    }

    @Test("A23: a retrier's own retries do not use up another's attempts, nor its first step")
    func independentAttempts() async throws {
        let transport = ScriptedTransport(.status(401), .status(500), .reply(text: "ok"))
        let authorization = ScriptedRetrier.factory { _, error in error.status == 401 ? true : false }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(authorization, steadyBackoff(maxAttempts: 2)),
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(outcome.delays == [.zero, .milliseconds(500)])
        #expect(outcome.trace.attempts[1].decision?.reason == .backoff(retry: 1))
    }

    @Test("A24: [no, retry] retries, and both are asked")
    func secondDecides() async throws {
        let (first, second) = (Counter(), Counter())
        let transport = ScriptedTransport(.status(500), .reply(text: "ok"))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(Self.recording(.doNotRetry, first), Self.recording(true, second)),
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect((first.value, second.value) == (1, 1))
    }

    @Test("A24: [retry, X] never asks X")
    func firstDecides() async throws {
        let (first, second) = (Counter(), Counter())
        let transport = ScriptedTransport(.status(500), .reply(text: "ok"))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(Self.recording(true, first), Self.recording(true, second)),
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect((first.value, second.value) == (1, 0))
    }

    @Test("A24: [fail, X] never asks X, and its error surfaces")
    func firstFails() async throws {
        let (first, second) = (Counter(), Counter())
        let transport = ScriptedTransport(.status(500), .reply(text: "ok"))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(
                Self.recording(.fail(with: Self.own), first),
                Self.recording(true, second)
            ),
            transport
        )
        #expect(outcome.error?.kind == .authorization)
        #expect((first.value, second.value) == (1, 0))
        #expect(transport.count == 1)
    }

    @Test("a request carries the credentials of all retriers, in their order")
    func allCredentials() async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        _ = try await outcome(
            of: Ping.get,
            retrier: .composed(
                AnyRetrierFactory.authorizing(with: WrittenCredential { $0.header.add("first", to: "X-All") }),
                AnyRetrierFactory.authorizing(with: WrittenCredential { $0.header.add("second", to: "X-All") })
            ),
            transport
        )
        #expect(transport.attempts[0].header.values(of: "X-All") == ["first", "second"])
    }

    @Test("before each attempt but the first, the call waits for all retriers, in their order")
    func gates() async throws {
        struct Gated: Retrier {
            let name: String
            let passed: Locked<[String]>
            func beforeRetry(of request: HttpRequest) async throws { passed.withLock { $0.append(name) } }
            func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
        }
        let passed = Locked<[String]>([])
        let backoff = ScriptedRetrier.factory { asked, _ in
            passed.withLock { $0.append("retry") }
            return asked < 2 ? .retry(after: .seconds(1)) : false
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(
                AnyRetrierFactory { Gated(name: "first", passed: passed) },
                backoff,
                AnyRetrierFactory { Gated(name: "second", passed: passed) }
            ),
            ScriptedTransport(.status(500), .status(500), .reply(text: "ok"))
        )
        #expect(outcome.response?.body == "ok")
        #expect(passed.withLock { $0 } == ["retry", "first", "second", "retry", "first", "second"])
    }

    @Test("when all composed retriers refuse, the trace has the last reason and the retrier that gave it")
    func refusalReason() async throws {
        let transport = ScriptedTransport(.status(404))
        let silent = ScriptedRetrier.factory { _, _ in false }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .composed(silent, steadyBackoff(), silent),
            transport
        )
        #expect(outcome.trace.attempts[0].decision?.retrier == "BackoffRetrier")
        #expect(outcome.lastReason == .notRetryable("404 Not Found"))
    }
}
