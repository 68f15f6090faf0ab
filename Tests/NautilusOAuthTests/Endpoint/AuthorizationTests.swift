import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("TokenEndpoint, sign-in by browser")
struct AuthorizationTests {
    static let redirect = "com.example.notes:/signed-in"
    /// 32 zero bytes, and 32 bytes of one bits, as the fixed draws make them.
    static let state = String(repeating: "A", count: 43)
    static let verifier = String(repeating: "_", count: 42) + "8"

    /// An endpoint whose first secret is ``state`` and whose second is ``verifier``.
    static func endpoint(
        _ transport: ScriptedTransport = ScriptedTransport(),
        server: AuthorizationServer = EndpointFixture.server
    ) -> TokenEndpoint {
        var endpoint = EndpointFixture.endpoint(transport, server: server)
        let draws = Locked(0)
        endpoint.randomness = Randomness {
            draws.withLock { draws in
                draws += 1
                return draws % 8 < 5 && draws % 8 > 0 ? 0 : .max
            }
        }
        return endpoint
    }

    /// The error of an exchange of a redirect, and how often something was sent.
    static func exchange(
        _ url: String,
        redirect: String = redirect,
        server: AuthorizationServer = EndpointFixture.server
    ) async throws -> (error: OAuthError?, sendCount: Int) {
        let transport = ScriptedTransport(.json(EndpointFixture.token))
        let endpoint = endpoint(transport, server: server)
        let request = try endpoint.authorize(redirect: redirect)
        let url = try #require(URL(string: url))
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await endpoint.exchange(url, for: request)
        }
        return (error, transport.count)
    }

    @Test("the browser is sent to the endpoint with everything that RFC 6749 §4.1.1 and RFC 7636 §4.3 ask for")
    func url() throws {
        let request = try Self.endpoint().authorize(
            redirect: Self.redirect,
            scope: ["notes.write", "notes.read"],
            parameters: ["prompt": "login", "login_hint": "ann@example.com", "audience": "https://api.test"]
        )
        let challenge = Pkce.challenge(of: Self.verifier)
        #expect(
            request.url.absoluteString
                == "https://id.test/authorize?response_type=code&client_id=app"
                + "&redirect_uri=com.example.notes%3A%2Fsigned-in&scope=notes.read%20notes.write"
                + "&state=\(Self.state)&code_challenge=\(challenge)&code_challenge_method=S256"
                + "&audience=https%3A%2F%2Fapi.test&login_hint=ann%40example.com&prompt=login"
        )
        #expect(request.redirect == Self.redirect)
    }

    @Test("a sign-in is exchanged once, and once more only if its code was never sent", arguments: [true, false])
    func redeemedOnce(isSent: Bool) async throws {
        let tries = Locked(0)
        let transport = ScriptedTransport { _, _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            guard isSent || number > 3 else { return .fail(.cannotConnectToHost, delivery: .notSent) }
            return .json(EndpointFixture.token)
        }
        let endpoint = TokenEndpoint(
            server: EndpointFixture.server,
            client: OAuthClient(id: "app"),
            transport: transport,
            retrierFactory: .never,
            clock: ManualClock()
        )
        let request = try endpoint.authorize(redirect: Self.redirect)
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(request.state.text)"))
        for _ in 1...3 {
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.exchange(url, for: request)
            }
            if !isSent { #expect(error?.kind == .unavailable) }
        }
        #expect(transport.count == (isSent ? 1 : 3))
        let copy = request
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await endpoint.exchange(url, for: copy)
        }
        guard isSent else { return #expect(error == nil) }
        guard case .invalidParameter? = error?.kind else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    /// Exchanges one sign-in at an endpoint that replies so, then once more, where it would succeed.
    private static func redeem(
        _ reply: ScriptedReply,
        retrier: any RetrierFactory = .never
    ) async throws -> (first: OAuthError?, second: OAuthError?, sendCount: Int) {
        let transport = ScriptedTransport(reply, .json(EndpointFixture.token), afterLast: .repeat)
        let endpoint = TokenEndpoint(
            server: EndpointFixture.server,
            client: OAuthClient(id: "app"),
            transport: transport,
            retrierFactory: retrier,
            clock: ManualClock()
        )
        let request = try endpoint.authorize(redirect: Self.redirect)
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(request.state.text)"))
        var errors: [OAuthError?] = []
        for _ in 1...2 {
            errors.append(
                await EndpointFixture.error { () async throws(OAuthError) in
                    try await endpoint.exchange(url, for: request)
                }
            )
        }
        return (errors[0], errors[1], transport.count)
    }

    @Test(
        "a sign-in whose answer was lost, or that was answered, is over; one that the server did not look at is not",
        arguments: [
            (.fail(.networkConnectionLost), true), (.status(500), true), (.status(502), true), (.status(503), true),
            (.json(["error": "invalid_grant"], status: 400), true), (.reply(text: "{"), true),
            (.fail(.cannotConnectToHost, delivery: .notSent), false), (.status(429), false),
            (.status(503, header: ["Retry-After": "9"]), false),
        ] as [(ScriptedReply, Bool)]
    )
    func isOver(reply: ScriptedReply, isOver: Bool) async throws {
        let (first, second, sendCount) = try await Self.redeem(reply)
        #expect(first != nil)
        #expect(second?.kind == (isOver ? Self.redeemedTwice : nil))
        #expect(sendCount == (isOver ? 1 : 2))
    }

    @Test("a sign-in whose first attempt may have run is over, also when the last one was never sent")
    func isOverOnceSent() async throws {
        let transport = ScriptedTransport(
            .fail(.networkConnectionLost),
            .fail(.cannotConnectToHost, delivery: .notSent),
            .json(EndpointFixture.token)
        )
        let endpoint = TokenEndpoint(
            server: EndpointFixture.server,
            client: OAuthClient(id: "app"),
            transport: transport,
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = 2
                    $0.budget = .unlimited
                    $0.retriesNonIdempotentRequests = true
                }
            ),
            clock: ManualClock()
        )
        let request = try endpoint.authorize(redirect: Self.redirect)
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(request.state.text)"))
        for kind in [OAuthError.Kind.answerLost, Self.redeemedTwice] {
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.exchange(url, for: request)
            }
            #expect(error?.kind == kind)
            #expect(transport.count == 2)
        }
    }

    @Test(
        "of two exchanges of one sign-in at once, one is sent, and the other one fails",
        arguments: 0..<8 as Range<UInt64>
    )
    func redeemedAtOnce(seed: UInt64) async throws {
        let (kinds, sendCount) = try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.seconds(1), then: .json(EndpointFixture.token))
            }
            let endpoint = EndpointFixture.endpoint(transport, clock: clock)
            let request = try endpoint.authorize(redirect: Self.redirect)
            let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(request.state.text)"))
            let kinds = await withTaskGroup(of: OAuthError.Kind?.self) { group in
                for _ in 1...2 {
                    group.addTask {
                        await EndpointFixture.error { () async throws(OAuthError) in
                            try await endpoint.exchange(url, for: request)
                        }?.kind
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            return (kinds, transport.count)
        }
        #expect(kinds == [nil, Self.redeemedTwice])
        #expect(sendCount == 1)
    }

    private static let redeemedTwice = OAuthError.Kind.invalidParameter(
        reason: "this sign-in has been exchanged before; begin another one"
    )

    @Test("an endpoint that secrets must not go to leaves the sign-in as it was")
    func insecureEndpoint() async throws {
        let transport = ScriptedTransport(.json(EndpointFixture.token))
        let request = try EndpointFixture.endpoint(transport).authorize(redirect: Self.redirect)
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(request.state.text)"))
        let plain = AuthorizationServer(issuer: "https://id.test", tokenEndpoint: "http://id.test/token")
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await EndpointFixture.endpoint(transport, server: plain).exchange(url, for: request)
        }
        #expect(error?.kind == .insecureUrl)
        _ = try await EndpointFixture.endpoint(transport).exchange(url, for: request)
        #expect(transport.count == 1)
    }

    @Test(
        "a server that says which proofs it takes, and not S256, is refused",
        arguments: [nil, ["plain", "S256"], ["plain"], []]
    )
    func methods(supported: [String]?) throws {
        let server = AuthorizationServer(
            issuer: "https://id.test",
            tokenEndpoint: "https://id.test/token",
            authorizationEndpoint: "https://id.test/authorize",
            codeChallengeMethods: supported
        )
        let endpoint = Self.endpoint(server: server)
        guard let supported, !supported.contains("S256") else {
            let url = try endpoint.authorize(redirect: Self.redirect).url
            return #expect(url.absoluteString.contains("&code_challenge_method=S256"))
        }
        let error = #expect(throws: OAuthError.self) { try endpoint.authorize(redirect: Self.redirect) }
        #expect(error?.kind == .invalidParameter(reason: "code_challenge_method: the server does not take S256"))
    }

    @Test("the endpoint's own query stays, and a scope that is empty is left out (RFC 6749 §3.1)")
    func query() throws {
        let server = AuthorizationServer(
            issuer: "https://id.test",
            tokenEndpoint: "https://id.test/token",
            authorizationEndpoint: "https://id.test/authorize?policy=b2c"
        )
        let request = try Self.endpoint(server: server).authorize(redirect: Self.redirect, scope: [])
        #expect(
            request.url.absoluteString.hasPrefix("https://id.test/authorize?policy=b2c&response_type=code&client_id=")
        )
        #expect(!request.url.absoluteString.contains("scope"))
    }

    @Test("two sign-ins have no secret in common")
    func secrets() throws {
        let endpoint = EndpointFixture.endpoint(ScriptedTransport())
        let requests = try (0..<2).map { _ in try endpoint.authorize(redirect: Self.redirect) }
        #expect(Set(requests.flatMap { [$0.state.text, $0.verifier.text] }).count == 4)
    }

    @Test(
        "a redirect is a URL that only the app, or this machine, can read",
        arguments: [
            ("com.example.notes:/signed-in", nil), ("com.example.notes://host/path?a=b", nil),
            ("https://notes.example.com/in", nil), ("http://127.0.0.1:49152/in", nil), ("http://[::1]:1/", nil),
            ("http://localhost/in", nil), ("http://notes.example.com/in", .insecureUrl),
            ("HTTP://notes.example.com/in", .insecureUrl),
            ("", .malformed), ("/in", .malformed), ("notes.example.com/in", .malformed), ("a b:/in", .malformed),
            ("app:/in#fragment", .malformed), ("app:/in here", .malformed), ("app:/é", .malformed),
            ("1app:/in", .malformed),
            (":/in", .malformed), ("https://user@notes.example.com/", .malformed),
        ] as [(String, RedirectVerdict?)]
    )
    func redirects(redirect: String, verdict: RedirectVerdict?) {
        do throws(OAuthError) {
            _ = try Self.endpoint().authorize(redirect: redirect)
            #expect(verdict == nil)
        } catch {
            switch verdict {
            case .insecureUrl: #expect(error.kind == .insecureUrl)
            case .malformed:
                let reason = "redirect_uri: it must be an absolute URL without a fragment"
                #expect(error.kind == .invalidParameter(reason: reason))
            case nil: Issue.record("\(error)")
            }
        }
    }

    enum RedirectVerdict: Sendable { case insecureUrl, malformed }

    @Test(
        "a redirect whose scheme is that of scripts, files, mail or another protocol is refused, since it cannot be an app's",
        arguments: [
            "javascript:alert(1)", "JavaScript:alert(1)", "vbscript:a", "data:text/html,a", "about:blank", "blob:a",
            "file:///in", "FILE:/in", "filesystem:a", "content://a/in", "ftp://notes.test/in", "ftps://notes.test/in",
            "sftp://notes.test/in", "ws://notes.test/in", "wss://notes.test/in", "mailto:a@notes.test", "tel:1",
            "sms:1", "urn:ietf:wg:oauth:2.0:oob", "intent://in", "jar:a", "view-source:a", "ldap://a/in",
        ]
    )
    func foreignSchemes(redirect: String) {
        let error = #expect(throws: OAuthError.self) { try Self.endpoint().authorize(redirect: redirect) }
        #expect(error?.kind == .invalidParameter(reason: "redirect_uri: its scheme cannot belong to an app"))
    }

    @Test(
        "a parameter that the library sets is not taken from the app",
        arguments: [
            "client_id", "code_challenge", "code_challenge_method", "redirect_uri", "response_type", "scope", "state",
        ]
    )
    func ownParameters(name: String) {
        let error = #expect(throws: OAuthError.self) {
            try Self.endpoint().authorize(redirect: Self.redirect, parameters: [name: "x"])
        }
        #expect(error?.kind == .invalidParameter(reason: "\(name) is set by the library"))
    }

    @Test("without an endpoint, or with one that others can read, no sign-in begins")
    func endpoints() {
        for (url, kind) in [
            (nil, OAuthError.Kind.noEndpoint(name: "authorization_endpoint")),
            ("http://id.test/authorize", .insecureUrl),
        ] {
            let server = AuthorizationServer(issuer: "i", tokenEndpoint: "https://id.test", authorizationEndpoint: url)
            let error = #expect(throws: OAuthError.self) {
                try Self.endpoint(server: server).authorize(redirect: Self.redirect)
            }
            #expect(error?.kind == kind)
        }
    }

}
