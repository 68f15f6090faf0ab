import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Errors of a token request")
struct TokenRequestErrorTests {
    /// The meaning of a status.
    enum Meaning: Sendable { case code, unavailable, malformed }

    /// A refresh that has failed.
    struct Failure: Sendable {
        let error: OAuthError
        let sendCount: Int
        /// When it ended, on the virtual clock.
        let end: Duration
    }

    /// Refreshes at an endpoint that replies so; the last reply repeats.
    private static func refresh(
        _ replies: ScriptedReply...,
        repeatsWhatMayHaveRun: Bool = false
    ) async throws -> Failure {
        try await simulate { simulation in
            let clock = simulation.clock
            let left = Locked(Array(replies.reversed()))
            let transport = ScriptedTransport(clock: clock) { _, _ in
                left.withLock { $0.count > 1 ? $0.removeLast() : $0[0] }
            }
            let endpoint = TokenEndpoint(
                server: EndpointFixture.server,
                client: OAuthClient(id: "app"),
                transport: transport,
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .exponential(jitter: .none)
                        $0.maxAttempts = 3
                        $0.budget = .unlimited
                        $0.retriesNonIdempotentRequests = repeatsWhatMayHaveRun
                    }
                ),
                clock: clock
            )
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.refresh(EndpointFixture.credential)
            }
            return Failure(error: try #require(error), sendCount: transport.count, end: clock.now.offset)
        }
    }

    @Test(
        "every class of status has its meaning; only a 4xx has that of its error code",
        arguments: [
            (301, .malformed), (302, .malformed), (303, .malformed), (304, .malformed), (307, .malformed),
            (308, .malformed), (400, .code), (401, .code), (402, .code), (403, .code), (404, .code), (405, .code),
            (408, .unavailable), (409, .code), (410, .code), (421, .code), (422, .code), (425, .unavailable),
            (429, .unavailable), (451, .code), (500, .unavailable), (501, .unavailable), (502, .unavailable),
            (503, .unavailable), (504, .unavailable), (599, .unavailable),
        ] as [(Int, Meaning)]
    )
    func statuses(status: Int, meaning: Meaning) async throws {
        let header: HttpHeader = ["Location": "https://elsewhere.test/"]
        let coded = try await Self.refresh(.json(["error": "invalid_grant"], status: status, header: header))
        let bare = try await Self.refresh(.reply(status: status, header: header, text: "<html>"))
        switch meaning {
        case .code:
            #expect(coded.error.kind == .invalidGrant)
            #expect(bare.error.kind == .malformedReply(reason: "status \(status) without an error code"))
        case .unavailable:
            #expect(coded.error.kind == .unavailable)
            #expect(bare.error.kind == .unavailable)
        case .malformed:
            let reason = "status \(status), a redirect, which is not followed with secrets"
            #expect(coded.error.kind == .malformedReply(reason: reason))
            #expect(bare.error.kind == .malformedReply(reason: reason))
        }
        for failure in [coded, bare] {
            #expect(failure.error.httpError?.status == status)
            #expect(failure.error.httpError?.trace.attempts.count == failure.sendCount)
            // Only a request that the server says it has not run is repeated.
            #expect(failure.sendCount == ([425, 429].contains(status) ? 3 : 1))
        }
    }

    @Test(
        "a failure without an answer tells whether the request may have run; only one that did not is repeated",
        arguments: [
            (.fail(.cannotConnectToHost, delivery: .notSent), .unavailable, 3),
            (.fail(.cannotFindHost, delivery: .notSent), .unavailable, 3),
            (.fail(.notConnectedToInternet, delivery: .notSent), .unavailable, 3),
            (.fail(.secureConnectionFailed, delivery: .notSent), .unavailable, 1),
            (.fail(.networkConnectionLost), .answerLost, 1),
            (.fail(.timedOut), .answerLost, 1),
            (.fail(.badServerResponse), .answerLost, 1),
            (.fail(TransportError.responseTooLarge(limit: 9)), .answerLost, 1),
            (.fail(ForeignError()), .answerLost, 1),
            (.fail(CancellationError()), .cancelled, 1),
            (.fail(HttpRequest.Invalid.headerName), .invalidParameter(reason: "\(HttpRequest.Invalid.headerName)"), 1),
        ] as [(ScriptedReply, OAuthError.Kind, Int)]
    )
    func failures(reply: ScriptedReply, kind: OAuthError.Kind, sendCount: Int) async throws {
        let failure = try await Self.refresh(reply)
        #expect(failure.error.kind == kind)
        #expect(failure.error.httpError?.trace.attempts.count == sendCount)
        #expect(failure.sendCount == sendCount)
        #expect(!failure.error.endsSession)
    }

    @Test(
        "a reply of more than 256 KiB is given up before it is in memory; one that says so before it comes, unread",
        arguments: [([:], 270_000), ([.contentLength: "1000000000"], 0)] as [(HttpHeader, Int)]
    )
    func tooLarge(header: HttpHeader, taken: Int) async throws {
        let transport = EndlessTransport(header: header)
        let endpoint = TokenEndpoint(
            server: EndpointFixture.server,
            client: OAuthClient(id: "app"),
            transport: transport,
            clock: ManualClock()
        )
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await endpoint.refresh(EndpointFixture.credential)
        }
        #expect(error?.kind == .answerLost)
        #expect(error?.httpError?.kind == .responseTooLarge(limit: 262_144))
        #expect(transport.taken == taken)
    }

    @Test("a silent server has lost the answer of a refresh after 7 s, and is not asked again by the endpoint")
    func timeout() async throws {
        let failure = try await Self.refresh(.hang)
        #expect(failure.error.kind == .answerLost)
        #expect(failure.error.httpError?.kind == .timeout(.seconds(7)))
        #expect(failure.sendCount == 1)
        #expect(failure.end == .seconds(7))
    }

    @Test("other requests than refreshes, which nothing repeats in time, wait 20 s for a silent server")
    func otherTimeout() async throws {
        let end = try await simulate { simulation in
            let clock = simulation.clock
            let endpoint = EndpointFixture.endpoint(ScriptedTransport(.hang, clock: clock), clock: clock)
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.clientCredentials()
            }
            #expect(error?.httpError?.kind == .timeout(.seconds(20)))
            return clock.now.offset
        }
        #expect(end == .seconds(20))
    }

    @Test(
        "the deadline of 25 s, less than a coordinator's 30 s, ends an attempt that has begun, and its answer is lost"
    )
    func deadline() async throws {
        let failure = try await Self.refresh(.status(429, header: ["Retry-After": "20"]), .hang)
        #expect(failure.error.kind == .answerLost)
        #expect(failure.error.httpError?.kind == .deadline(.seconds(25)))
        #expect(failure.sendCount == 2)
        #expect(failure.end == .seconds(25))
    }

    @Test("a Retry-After beyond the deadline is not slept: the error comes at once, with the hint")
    func longRetryAfter() async throws {
        let failure = try await Self.refresh(.status(503, header: ["Retry-After": "40"]))
        #expect(failure.error.kind == .unavailable)
        #expect(failure.error.httpError?.retryAfter == .seconds(40))
        #expect(failure.sendCount == 1)
        #expect(failure.end == .zero)
    }

    @Test("an answer that an earlier attempt has lost stays lost, whatever the last one says of an outage")
    func earlierLoss() async throws {
        let lost = ScriptedReply.fail(.networkConnectionLost)
        let refused = ScriptedReply.fail(.cannotConnectToHost, delivery: .notSent)
        for replies in [[lost, refused], [refused, lost, refused], [lost, .status(503)]] {
            let failure = try await Self.refresh(all: replies)
            #expect(failure.error.kind == .answerLost)
            #expect(failure.sendCount == 3)
        }
        #expect(try await Self.refresh(all: [refused, .status(503)]).error.kind == .unavailable)
    }

    private static func refresh(all replies: [ScriptedReply]) async throws -> Failure {
        switch replies.count {
        case 2: try await refresh(replies[0], replies[1], repeatsWhatMayHaveRun: true)
        default: try await refresh(replies[0], replies[1], replies[2], repeatsWhatMayHaveRun: true)
        }
    }

    @Test(
        "a success that is none is malformed; one that names an error is that error, as some servers have it",
        arguments: [
            (.reply(text: "<html>"), .malformedReply(reason: "it is no JSON object")),
            (.reply(status: 204), .malformedReply(reason: "it is no JSON object")),
            (.json(["a": "b"]), .malformedReply(reason: "access_token is missing")),
            (.json(["error": "invalid_grant"]), .invalidGrant),
            (.json(["error": "bad_code"], header: ["Content-Type": "text/plain"]), .misconfigured(code: "bad_code")),
        ] as [(ScriptedReply, OAuthError.Kind)]
    )
    func successes(reply: ScriptedReply, kind: OAuthError.Kind) async throws {
        let failure = try await Self.refresh(reply)
        #expect(failure.error.kind == kind)
        #expect(failure.sendCount == 1)
        let call = try #require(failure.error.httpError)
        #expect(call.kind == .decoding)
        #expect(call.trace.attempts.map(\.outcome) == [.succeeded(status: call.status ?? 0)])
        #expect(call.request?.description == "POST https://id.test/token")
        #expect(call.response?.body.isEmpty == true, "there may be tokens in it")
    }

    @Test("the server's words are kept for developers, with the error of the call")
    func serverDescription() async throws {
        let reply = ["error": "invalid_scope", "error_description": "ask for less"]
        let failure = try await Self.refresh(.json(reply, status: 400))
        #expect(failure.error.serverDescription == "ask for less")
        #expect(failure.error.httpError?.kind == .status(400))
    }

    @Test("a server that repeats the refresh token in its code does not get it printed")
    func echo() async throws {
        let failure = try await Self.refresh(.json(["error": "no s3cret-refresh"], status: 400))
        #expect(failure.error.kind == .misconfigured(code: "‹redacted›"))
    }

    private struct ForeignError: Error {}
}
