import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The statuses that are retried")
struct StatusRetryTests {
    @Test("A1: a GET that meets 503 twice succeeds at the third attempt")
    func eventualSuccess() async throws {
        let transport = ScriptedTransport(.status(503), .status(503), .reply(text: "shell"))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.response?.body == "shell")
        #expect(outcome.attempts == 3)
        #expect(transport.count == 3)
        #expect(outcome.delays == [.milliseconds(500), .seconds(1)])
        #expect(outcome.end == .milliseconds(1500))
    }

    @Test("A2: a POST without a key that meets 500 is not repeated, since it may have been executed")
    func unkeyedPost() async throws {
        let transport = ScriptedTransport(.status(500), .status(201))
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.error?.kind == .status(500))
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(outcome.lastReason == .mayHaveExecuted)
        #expect(transport.count == 1)
    }

    /// Wants another attempt whatever has happened.
    private struct Insisting: Retrier {
        let evenIfExecuted: Bool

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            .retry(after: .zero, evenIfExecuted: evenIfExecuted)
        }
    }

    @Test(
        "A2: a POST is not retried if a custom retrier insists, unless that allows a second execution",
        arguments: [false, true]
    )
    func insisting(evenIfExecuted: Bool) async throws {
        let transport = ScriptedTransport(.status(500), .reply(status: 201, text: "made"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AnyRetrierFactory { Insisting(evenIfExecuted: evenIfExecuted) },
            transport: transport
        )
        let result = await Ping.post.result(with: service)
        #expect(transport.count == (evenIfExecuted ? 2 : 1))
        #expect((result.error == nil) == evenIfExecuted)
        let reason = result.error?.trace.attempts.last?.decision?.reason
        #expect(reason == (evenIfExecuted ? nil : .mayHaveExecuted))
    }

    @Test("A3: a POST with a key is repeated, key and body byte-identical, although both change in the request")
    func keyedPost() async throws {
        let transport = ScriptedTransport(.status(500), .reply(status: 201, text: "made"))
        let outcome = try await outcome(of: Fickle(), transport)
        #expect(outcome.response?.status == 201)
        let attempts = transport.attempts
        #expect(attempts.count == 2)
        #expect(attempts[0].header[.idempotencyKey] == attempts[1].header[.idempotencyKey])
        #expect(attempts[0].header[.idempotencyKey] != nil)
        #expect(attempts[0].body == attempts[1].body)
        #expect(attempts[0].body?.isEmpty == false)
    }

    @Test("A4: a POST whose connection was refused was not sent, and is retried")
    func refusedPost() async throws {
        let transport = ScriptedTransport(
            .fail(.cannotConnectToHost, delivery: .notSent),
            .reply(status: 201, text: "made")
        )
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.response?.status == 201)
        #expect(outcome.trace.attempts[0].outcome == .failed(.send, .transport(.cannotConnectToHost), .notSent))
        #expect(transport.count == 2)
    }

    @Test("A5: a POST whose connection was reset may have been executed, and is not retried")
    func resetPost() async throws {
        let transport = ScriptedTransport(.fail(.networkConnectionLost), .status(201))
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.error?.kind == .transport(.networkConnectionLost))
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(transport.count == 1)
    }

    @Test("a POST may be repeated after all, by a retrier that says so")
    func unsafePost() async throws {
        let transport = ScriptedTransport(.status(500), .status(200))
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.budget = .unlimited
                $0.retriesNonIdempotentRequests = true
            }
        )
        let outcome = try await outcome(of: Ping.post, retrier: retrier, transport)
        #expect(outcome.response?.status == 200)
        #expect(transport.count == 2)
    }

    @Test("A12: a status that another attempt would not change is not retried", arguments: [400, 404, 409, 422, 501])
    func finalStatus(_ status: Int) async throws {
        let transport = ScriptedTransport(.status(status), afterLast: .repeat)
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.kind == .status(status))
        #expect(transport.count == 1)
    }

    @Test("A13: of all statuses on a GET, exactly 408, 425, 429, 500, 502, 503, 504 and 529 are retried")
    func everyStatus() async throws {
        var retried: [Int] = []
        for status in 100...599 where !(200...299).contains(status) {
            let transport = ScriptedTransport(.status(status), afterLast: .repeat)
            let outcome = try await outcome(of: Ping.get, transport)
            #expect(outcome.error?.kind == .status(status))
            if transport.count > 1 { retried.append(status) }
        }
        #expect(retried == [408, 425, 429, 500, 502, 503, 504, 529])
    }

    @Test(
        "A14: a failure of TLS or of a certificate is not retried",
        arguments: [
            URLError.Code.secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired,
        ]
    )
    func certificate(_ code: URLError.Code) async throws {
        let transport = ScriptedTransport(.fail(code, delivery: .notSent), afterLast: .repeat)
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.kind == .transport(code))
        #expect(transport.count == 1)
    }

    @Test("A25: a body that does not decode consults the retrier exactly once, and backoff refuses")
    func undecodable() async throws {
        let asked = Counter()
        let transport = ScriptedTransport(.status(200), afterLast: .repeat)
        let counting = ScriptedRetrier.factory { _, _ in
            asked.increment()
            return .doNotRetry
        }
        let outcome = try await outcome(
            of: Undecodable(),
            retrier: .composed(counting, steadyBackoff()),
            transport
        )
        #expect(outcome.error?.kind == .decoding)
        #expect(outcome.error?.underlying is Undecodable.Failure)
        #expect(asked.value == 1)
        #expect(transport.count == 1)
    }
}

/// A request whose key and body are others whenever they are read.
private struct Fickle: Request {
    typealias Result = String

    let reads = Counter()
    var route: HttpRoute { [] }
    var method: HttpMethod { .post }
    var header: HttpHeader { ["Idempotency-Key": "key-\(reads.increment())"] }
    var body: HttpBody { .json(["read": reads.increment()]) }
}
