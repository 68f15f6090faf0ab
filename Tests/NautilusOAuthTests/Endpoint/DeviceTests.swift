import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("TokenEndpoint, sign-in on another device")
struct DeviceTests {
    /// The outcome of a sign-in, and its times, on the virtual clock.
    struct Outcome: Sendable {
        let credential: OAuthCredential?
        let error: OAuthError?
        /// When each poll was sent.
        let polls: [Duration]
        /// The sleeps between the polls; the time limits of the polls, which sleep as well, are left out.
        let pauses: [Duration]
        let end: Duration
    }

    static let pending = ScriptedReply.json(["error": "authorization_pending"], status: 400)
    private static let slowDown = ScriptedReply.json(["error": "slow_down"], status: 400)
    static let success = ScriptedReply.json(EndpointFixture.token)

    /// Signs in with a device code of 10 minutes, unless `fields` say otherwise; `polls` are the replies, the last of
    /// which repeats.
    static func signIn(
        granting fields: String = #""expires_in":600"#,
        _ polls: ScriptedReply...
    ) async throws -> Outcome {
        try await simulate { simulation in
            let clock = simulation.clock
            let body =
                #"{"device_code":"s3cret-device","user_code":"WDJB","verification_uri":"https://id.test/go",\#(fields)}"#
            let left = Locked(Array(polls.reversed()))
            let transport = ScriptedTransport(clock: clock) { _, _ in
                left.withLock { $0.count > 1 ? $0.removeLast() : $0[0] }
            }
            transport.on(.post, "/device", .reply(text: body))
            let endpoint = TokenEndpoint(
                server: EndpointFixture.server,
                client: OAuthClient(id: "app"),
                transport: transport,
                // The default but for its budget, which all tests of the process would share.
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.maxAttempts = 3
                        $0.budget = .unlimited
                    }
                ),
                clock: clock,
                wallClock: { EndpointFixture.now }
            )
            var (credential, error): (OAuthCredential?, OAuthError?)
            let authorization = try await endpoint.authorizeDevice(scope: ["notes.read"])
            do throws(OAuthError) {
                credential = try await endpoint.credential(for: authorization)
            } catch let failure {
                error = failure
            }
            return Outcome(
                credential: credential,
                error: error,
                polls: transport.attempts(at: .post, "/token").map(\.start),
                pauses: clock.sleeps,
                end: clock.now.offset
            )
        }
    }

    static func seconds(_ seconds: Int...) -> [Duration] { seconds.map { .seconds($0) } }

    @Test("the device asks by a form, and is given the codes (RFC 8628 §3.1)")
    func begin() async throws {
        let transport = ScriptedTransport(
            .reply(
                text: """
                    {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://id.test/go",
                    "verification_uri_complete":"https://id.test/go?user_code=WDJB-MJHT","expires_in":1800,"interval":7}
                    """
            )
        )
        let authorization = try await EndpointFixture.endpoint(transport).authorizeDevice(scope: ["b", "a"])
        #expect(authorization.userCode == "WDJB-MJHT")
        #expect(authorization.verificationUri.absoluteString == "https://id.test/go")
        #expect(authorization.verificationUriComplete?.absoluteString == "https://id.test/go?user_code=WDJB-MJHT")
        #expect(authorization.expiresIn == .seconds(1800))
        #expect(authorization.interval == .seconds(7))
        #expect(transport.attempts.map(\.request.url.absoluteString) == ["https://id.test/device"])
        #expect(transport.attempts.map(\.form) == ["scope=a%20b&client_id=app"])
    }

    @Test("without an endpoint for it, or with one that others can read, nothing is sent")
    func endpoints() async {
        for (url, kind) in [
            (nil, OAuthError.Kind.noEndpoint(name: "device_authorization_endpoint")), ("http://id.test", .insecureUrl),
        ] {
            let transport = ScriptedTransport()
            let server = AuthorizationServer(
                issuer: "i",
                tokenEndpoint: "https://id.test",
                deviceAuthorizationEndpoint: url
            )
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await EndpointFixture.endpoint(transport, server: server).authorizeDevice()
            }
            #expect(error?.kind == kind)
            #expect(transport.count == 0)
        }
    }

    @Test("the first poll comes after 5 s, and pending polls go on until the user has approved")
    func approved() async throws {
        let outcome = try await Self.signIn(Self.pending, Self.pending, Self.success)
        #expect(outcome.credential?.accessToken == "s3cret-new")
        #expect(outcome.credential?.scope == ["notes.read"])
        #expect(outcome.credential?.receivedAt == EndpointFixture.now)
        #expect(outcome.polls == Self.seconds(5, 10, 15))
        #expect(outcome.pauses == Self.seconds(5, 5, 5))
    }

    @Test("the server's interval is kept, and slow_down adds 5 s to it for good")
    func slowDown() async throws {
        let outcome = try await Self.signIn(
            granting: #""expires_in":600,"interval":2"#,
            Self.pending,
            Self.slowDown,
            Self.pending,
            Self.slowDown,
            Self.pending,
            Self.success
        )
        #expect(outcome.pauses == Self.seconds(2, 2, 7, 7, 12, 12))
        #expect(outcome.polls == Self.seconds(2, 4, 11, 18, 30, 42))
        #expect(outcome.credential != nil)
    }

    @Test("each poll that is not answered doubles the interval, for good (RFC 8628 §3.5)")
    func doubling() async throws {
        let outcome = try await Self.signIn(
            Self.pending,
            .hang,
            .fail(.timedOut),
            Self.pending,
            .fail(.networkConnectionLost),
            Self.success
        )
        #expect(outcome.pauses == Self.seconds(5, 5, 10, 20, 20, 40))
        #expect(outcome.credential != nil)
    }

    @Test("an outage is waited out at the same interval, and nothing is repeated in between")
    func outage() async throws {
        let outcome = try await Self.signIn(
            .status(500),
            .status(503),
            .status(429),
            .status(408),
            .json(["error": "invalid_grant"], status: 502),
            .fail(.cannotConnectToHost, delivery: .notSent),
            .fail(.notConnectedToInternet, delivery: .notSent),
            Self.success
        )
        #expect(outcome.pauses == Self.seconds(5, 5, 5, 5, 5, 5, 5, 5))
        #expect(outcome.polls == Self.seconds(5, 10, 15, 20, 25, 30, 35, 40))
        #expect(outcome.credential != nil)
    }

    @Test("Retry-After is waited for where it is longer than the interval, once; a shorter one brings no poll forward")
    func retryAfter() async throws {
        let outcome = try await Self.signIn(
            .status(429, header: ["Retry-After": "90"]),
            .status(503, header: ["Retry-After": "1"]),
            .json(["error": "slow_down"], status: 400, header: ["Retry-After": "8"]),
            Self.success
        )
        #expect(outcome.pauses == Self.seconds(5, 90, 5, 10))
        #expect(outcome.credential != nil)
    }

    @Test(
        "an error that no further poll can change ends the polling",
        arguments: [
            (.json(["error": "access_denied"], status: 400), .accessDenied),
            (.json(["error": "expired_token"], status: 400), .deviceCodeExpired),
            (.json(["error": "invalid_grant"], status: 400), .invalidGrant),
            (.json(["error": "invalid_client"], status: 401), .misconfigured(code: "invalid_client")),
            (.json(["error": "access_denied"]), .accessDenied),
            (.status(404), .malformedReply(reason: "status 404 without an error code")),
            (.reply(text: "<html>"), .malformedReply(reason: "it is no JSON object")),
        ] as [(ScriptedReply, OAuthError.Kind)]
    )
    func ends(reply: ScriptedReply, kind: OAuthError.Kind) async throws {
        let outcome = try await Self.signIn(Self.pending, reply)
        #expect(outcome.error?.kind == kind)
        #expect(outcome.polls == Self.seconds(5, 10))
        #expect(outcome.end == .seconds(10))
    }

    @Test("a server that says with 200 that the user has not approved yet is polled on")
    func pendingSuccess() async throws {
        let outcome = try await Self.signIn(.json(["error": "authorization_pending"]), Self.success)
        #expect(outcome.polls == Self.seconds(5, 10))
        #expect(outcome.credential != nil)
    }

    @Test(
        "the polling ends when the codes do, without a poll then",
        arguments: [
            (#""expires_in":12"#, [5, 10], 12), (#""expires_in":10"#, [5], 10), (#""expires_in":3"#, [], 3),
            (#""expires_in":30,"interval":29"#, [29], 30),
        ]
    )
    func expiry(fields: String, polls: [Int], end: Int) async throws {
        let outcome = try await Self.signIn(granting: fields, Self.pending)
        #expect(outcome.error?.kind == .deviceCodeExpired)
        #expect(outcome.polls == polls.map { .seconds($0) })
        #expect(outcome.end == .seconds(end))
    }

    @Test("a Retry-After beyond the end of the codes, however far, ends the polling with them")
    func retryAfterExpiry() async throws {
        let outcome = try await Self.signIn(.status(429, header: ["Retry-After": "99999999999999999999"]))
        #expect(outcome.error?.kind == .deviceCodeExpired)
        #expect(outcome.polls == Self.seconds(5))
        #expect(outcome.end == .seconds(600))
    }

    @Test("a server that is silent all the time is asked less and less")
    func silent() async throws {
        let outcome = try await Self.signIn(.fail(.timedOut))
        #expect(outcome.error?.kind == .deviceCodeExpired)
        #expect(outcome.polls == Self.seconds(5, 15, 35, 75, 155, 315))
        #expect(outcome.end == .seconds(600))
    }

    @Test("cancelling ends the polling at once, between two polls and within one", arguments: [false, true])
    func cancelled(isWithinPoll: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.hang, clock: clock)
            transport.on(
                .post,
                "/device",
                .json(["device_code": "d", "user_code": "u", "verification_uri": "https://id.test", "expires_in": "60"])
            )
            let endpoint = EndpointFixture.endpoint(transport, clock: clock)
            let authorization = try await endpoint.authorizeDevice()
            let end = await withTaskGroup(of: OAuthError?.self) { group in
                group.addTask {
                    await EndpointFixture.error { () async throws(OAuthError) in
                        try await endpoint.credential(for: authorization)
                    }
                }
                try? await clock.sleep(for: .seconds(isWithinPoll ? 6 : 4))
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(end?.kind == .cancelled)
            #expect(clock.now.offset == .seconds(isWithinPoll ? 6 : 4))
            #expect(transport.count(of: .post, "/token") == (isWithinPoll ? 1 : 0))
        }
    }

    @Test("time that passes before the polling begins counts, too")
    func late() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock)
            transport.on(
                .post,
                "/device",
                .json(["device_code": "d", "user_code": "u", "verification_uri": "https://id.test", "expires_in": "60"])
            )
            let endpoint = EndpointFixture.endpoint(transport, clock: clock)
            let authorization = try await endpoint.authorizeDevice()
            try await clock.sleep(for: .seconds(61))
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.credential(for: authorization)
            }
            #expect(error?.kind == .deviceCodeExpired)
            #expect(clock.now.offset == .seconds(61))
            #expect(transport.count == 1)
        }
    }
}
