import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("TokenEndpoint, tokens")
struct RefreshTests {
    private static let success = ScriptedReply.json(EndpointFixture.token)

    @Test("a refresh is one POST of a form, by a client that its id identifies")
    func request() async throws {
        let transport = ScriptedTransport(Self.success)
        let fresh = try await EndpointFixture.endpoint(transport).refresh(EndpointFixture.credential)
        #expect(fresh.accessToken == "s3cret-new")
        #expect(fresh.receivedAt == EndpointFixture.now)

        #expect(transport.count == 1)
        let attempt = try #require(transport.attempts.first)
        #expect(attempt.request.method == .post)
        #expect(attempt.request.url.absoluteString == "https://id.test/token")
        #expect(attempt.header[.contentType] == "application/x-www-form-urlencoded")
        #expect(attempt.header[.accept] == "application/json")
        #expect(attempt.header[.authorization] == nil)
        #expect(attempt.header[.idempotencyKey] == nil)
        #expect(attempt.form == "grant_type=refresh_token&refresh_token=s3cret-refresh&client_id=app")
    }

    @Test(
        "the client says who it is as it is configured (RFC 6749 §2.3.1)",
        arguments: [
            (.none, nil, "&client_id=a%3Ab%2B%26"),
            (.post(secret: "s3cret &="), nil, "&client_id=a%3Ab%2B%26&client_secret=s3cret%20%26%3D"),
            // base64("a%3Ab%2B%26:s3cret%20%3A%C3%A9")
            (.basic(secret: "s3cret :é"), "Basic YSUzQWIlMkIlMjY6czNjcmV0JTIwJTNBJUMzJUE5", ""),
        ] as [(OAuthClient.Authentication, String?, String)]
    )
    func client(authentication: OAuthClient.Authentication, header: String?, form: String) async throws {
        let transport = ScriptedTransport(Self.success)
        let client = OAuthClient(id: "a:b+&", authentication: authentication)
        _ = try await EndpointFixture.endpoint(transport, client: client).clientCredentials()
        #expect(transport.attempts.first?.header[.authorization] == header)
        #expect(transport.attempts.first?.form == "grant_type=client_credentials" + form)
    }

    @Test("a scope is asked for where there is one, and kept when the reply names none")
    func scope() async throws {
        let transport = ScriptedTransport(Self.success, Self.success, Self.success)
        let endpoint = EndpointFixture.endpoint(transport)
        #expect(try await endpoint.clientCredentials(scope: ["b", "a"]).scope == ["a", "b"])
        #expect(try await endpoint.clientCredentials(scope: []).scope == nil)
        #expect(try await endpoint.refresh(EndpointFixture.credential, scope: ["a"]).scope == ["a"])
        #expect(
            transport.attempts.map(\.form) == [
                "grant_type=client_credentials&scope=a%20b&client_id=app",
                "grant_type=client_credentials&client_id=app",
                "grant_type=refresh_token&refresh_token=s3cret-refresh&scope=a&client_id=app",
            ]
        )
    }

    @Test("the query of the endpoint's URL stays (RFC 6749 §3.2)")
    func query() async throws {
        let transport = ScriptedTransport(Self.success)
        let server = AuthorizationServer(issuer: "i", tokenEndpoint: "https://id.test/token?policy=a%20b")
        _ = try await EndpointFixture.endpoint(transport, server: server).refresh(EndpointFixture.credential)
        #expect(transport.attempts.first?.request.url.absoluteString == "https://id.test/token?policy=a%20b")
    }

    @Test("without a refresh token nothing is sent")
    func noRefreshToken() async {
        let transport = ScriptedTransport()
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await EndpointFixture.endpoint(transport).refresh(OAuthCredential(accessToken: "a"))
        }
        #expect(error?.kind == .noRefreshToken)
        #expect(transport.count == 0)
    }

    @Test(
        "secrets go over https, or to this machine; anything else is refused before it is sent",
        arguments: [
            ("https://id.test/token", nil), ("id.test/token", nil), ("http://localhost:8080/token", nil),
            ("http://127.0.0.1/token", nil), ("http://127.8.9.10:1/token", nil), ("http://[::1]:8080/token", nil),
            ("HTTPS://ID.TEST", nil), ("http://id.test/token", .insecureUrl), ("HTTP://id.test", .insecureUrl),
            ("http://localhost.id.test/token", .insecureUrl), ("http://127.0.0.1.id.test", .insecureUrl),
            (
                "ftp://id.test/token",
                .invalidParameter(reason: "token_endpoint: only http and https are supported")
            ),
            ("", .invalidParameter(reason: "token_endpoint: it names no host")),
            (
                "https://user:pass@id.test",
                .invalidParameter(
                    reason: "token_endpoint: credentials do not belong in a URL; put them into the header"
                )
            ),
            ("https://id.test/#a", .invalidParameter(reason: "token_endpoint: a fragment is never sent")),
        ] as [(String, OAuthError.Kind?)]
    )
    func insecure(url: String, kind: OAuthError.Kind?) async {
        let transport = ScriptedTransport(Self.success)
        let server = AuthorizationServer(issuer: "https://id.test", tokenEndpoint: url)
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await EndpointFixture.endpoint(transport, server: server).refresh(EndpointFixture.credential)
        }
        #expect(error?.kind == kind)
        #expect(transport.count == (kind == nil ? 1 : 0))
    }

    @Test(
        "a token request that certainly did not run is repeated, and the second answer counts",
        arguments: [
            (.fail(.cannotConnectToHost, delivery: .notSent), .milliseconds(500)),
            (.status(429), .milliseconds(500)),
            (.status(429, header: ["Retry-After": "7"]), .seconds(7)),
            (.status(503, header: ["Retry-After": "3"]), .seconds(3)),
            (.status(425), .milliseconds(500)),
        ] as [(ScriptedReply, Duration)]
    )
    func repeated(first: ScriptedReply, delay: Duration) async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(first, Self.success, clock: clock)
            _ = try await EndpointFixture.endpoint(transport, clock: clock).refresh(EndpointFixture.credential)
            return transport.attempts.map(\.start)
        }
        #expect(starts == [.zero, delay])
    }

    @Test("the default backoff leaves a 503 without Retry-After, and a lost connection, alone: one send each")
    func notRepeated() async {
        for (reply, kind) in [
            (ScriptedReply.status(503), OAuthError.Kind.unavailable),
            (.fail(.networkConnectionLost), .answerLost),
        ] {
            let transport = ScriptedTransport(reply)
            let endpoint = TokenEndpoint(
                server: EndpointFixture.server,
                client: OAuthClient(id: "app"),
                transport: transport
            )
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.refresh(EndpointFixture.credential)
            }
            #expect(error?.kind == kind)
            #expect(transport.count == 1)
        }
    }

    @Test("cancelling ends a refresh at once")
    func cancelled() async throws {
        let transport = ScriptedTransport(.hang)
        let endpoint = EndpointFixture.endpoint(transport)
        let task = Task {
            await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.refresh(EndpointFixture.credential)
            }
        }
        try await transport.waitForAttempts(count: 1)
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
    }
}
