import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RetryCondition")
struct RetryConditionTests {
    private static func error(
        _ kind: FailureKind,
        key: String? = nil,
        url: String = "https://api.example.com/notes"
    ) throws -> HttpError {
        let url = try #require(URL(string: url))
        var request = HttpRequest(method: .post, url: url)
        request.header[.idempotencyKey] = key
        var error = HttpError(kind, stage: .send)
        error.request = RequestSummary(request, serviceOrigin: try #require(HttpOrigin(url)))
        return error
    }

    @Test("only a timeout of the attempt, not the end of the call's own time, is worth another attempt")
    func times() throws {
        let condition = RetryCondition.standard
        #expect(condition.verdict(for: try Self.error(.timeout(.seconds(1)))).isRetryable)
        #expect(!condition.verdict(for: try Self.error(.deadline(.seconds(1)))).isRetryable)
        #expect(!condition.verdict(for: try Self.error(.cancelled)).isRetryable)
    }

    @Test(
        "a server on this machine that lets the TLS handshake run out of time is not asked again",
        arguments: [.timeout(.seconds(1)), .transport(.timedOut)] as [FailureKind]
    )
    func noTls(kind: FailureKind) throws {
        var error = try Self.error(kind, url: "https://localhost:8080/notes")
        error.delivery = .notSent
        #expect(!RetryCondition.standard.verdict(for: error).isRetryable)
        error.delivery = .maybeExecuted
        #expect(RetryCondition.standard.verdict(for: error).isRetryable)
    }

    @Test("the verdict on a request without a credential names what became of that")
    func credential() throws {
        var error = try Self.error(.authorization)
        error.underlying = RefreshError.signedOut
        let cause = try #require(error.cause)
        #expect(RetryCondition.standard.verdict(for: error).reason == cause)
    }

    @Test("a conflict is retried where that is chosen, and only for a request with a key")
    func keysInProgress() throws {
        let (conflict, keyed) = (try Self.error(.status(409)), try Self.error(.status(409), key: "a"))
        #expect(!RetryCondition.standard.verdict(for: keyed).isRetryable)
        let condition = RetryCondition.standard.retryingKeysInProgress()
        #expect(condition.verdict(for: keyed).isRetryable)
        #expect(!condition.verdict(for: conflict).isRetryable)
    }

    /// A failure that is not known to pass with time.
    private struct Broken: RefreshFailure {
        let isTransient = false
        let retryAfter: Duration? = nil
    }

    @Test(
        "an event stream that was open goes on while its credential can be refreshed later, and ends with its session"
    )
    func feedWithoutCredential() throws {
        let causes: [(cause: RefreshError, goesOn: Bool)] = [
            (.failed(remaining: .seconds(1), underlying: Broken()), true),
            (.coolingDown(remaining: .seconds(1), underlying: Broken()), true),
            (.timedOut(limit: .seconds(30), remaining: nil), true),
            (.tooManyRefreshes(limit: 5, window: .seconds(60), remaining: .seconds(1)), true),
            (.signedOut, false), (.sessionExpired(underlying: Broken()), false), (.superseded, false),
            (.recursive, false),
        ]
        for (cause, goesOn) in causes {
            var error = try Self.error(.authorization)
            error.underlying = cause
            #expect(!RetryCondition.standard.verdict(for: error).isRetryable, "a call: \(cause)")
            error.isReconnect = true
            #expect(RetryCondition.standard.verdict(for: error).isRetryable == goesOn, "an event stream: \(cause)")
        }
    }

    @Test("what another call throws while a request is built, an event stream that was open judges as its own failure")
    func feedOfAnotherCall() throws {
        let failures: [(kind: FailureKind, goesOn: Bool)] = [
            (.status(520), true), (.status(401), true), (.deadline(.seconds(1)), true), (.timeout(.seconds(1)), true),
            (.status(404), false), (.status(501), false), (.decoding, false),
        ]
        for (kind, goesOn) in failures {
            let inner = try Self.error(kind)
            var error = try Self.error(.custom)
            error.underlying = inner
            #expect(RetryCondition.standard.verdict(for: error).reason == "thrown by your code")
            error.isReconnect = true
            let verdict = RetryCondition.standard.verdict(for: error)
            #expect(verdict.isRetryable == goesOn, "\(kind)")
            if !goesOn { #expect(verdict.reason == "thrown by your code") }
        }
    }

    @Test("a status whose line was changed keeps it for an event stream that was open")
    func changedLine() throws {
        let condition = RetryCondition.standard
            .stopping(status: 503, because: "it is final")
            .stopping(status: 401, because: "there is one key")
            .retrying(status: 404, because: "it is there soon")
        for (status, reason) in [(503, "it is final"), (401, "there is one key"), (404, "it is there soon")] {
            var error = try Self.error(.status(status))
            error.isReconnect = true
            #expect(condition.verdict(for: error).reason == reason)
        }
    }
}
