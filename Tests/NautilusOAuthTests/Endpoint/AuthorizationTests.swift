import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusOAuth

@Suite("TokenEndpoint, sign-in by browser")
struct AuthorizationTests {
    private static let redirect = "com.example.notes:/signed-in"
    /// 32 zero bytes, and 32 bytes of one bits, as the fixed draws make them.
    private static let state = String(repeating: "A", count: 43)
    private static let verifier = String(repeating: "_", count: 42) + "8"

    /// An endpoint whose first secret is ``state`` and whose second is ``verifier``.
    private static func endpoint(
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
    private static func exchange(
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
        let challenge = TokenEndpoint.challenge(of: Self.verifier)
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
            retrierFactory: NilRetrier.factory(),
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
        retrier: any RetrierFactory = NilRetrier.factory()
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
        let (kinds, sendCount) = try await EndpointFixture.simulate(seed: seed) { clock in
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
                let reason = "redirect_uri: it is no absolute URL without a fragment"
                #expect(error.kind == .invalidParameter(reason: reason))
            case nil: Issue.record("\(error)")
            }
        }
    }

    enum RedirectVerdict: Sendable { case insecureUrl, malformed }

    @Test(
        "a redirect whose scheme is that of scripts, files, mail or another protocol is refused, as no app's own",
        arguments: [
            "javascript:alert(1)", "JavaScript:alert(1)", "vbscript:a", "data:text/html,a", "about:blank", "blob:a",
            "file:///in", "FILE:/in", "filesystem:a", "content://a/in", "ftp://notes.test/in", "ftps://notes.test/in",
            "sftp://notes.test/in", "ws://notes.test/in", "wss://notes.test/in", "mailto:a@notes.test", "tel:1",
            "sms:1", "urn:ietf:wg:oauth:2.0:oob", "intent://in", "jar:a", "view-source:a", "ldap://a/in",
        ]
    )
    func foreignSchemes(redirect: String) {
        let error = #expect(throws: OAuthError.self) { try Self.endpoint().authorize(redirect: redirect) }
        #expect(error?.kind == .invalidParameter(reason: "redirect_uri: its scheme is no app's own"))
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

    @Test("the code of the redirect is exchanged with the verifier, once")
    func exchanged() async throws {
        let transport = ScriptedTransport(.json(EndpointFixture.token))
        let endpoint = Self.endpoint(transport)
        let request = try endpoint.authorize(redirect: Self.redirect, scope: ["notes.read"])
        let url = try #require(URL(string: "\(Self.redirect)?code=a%2Fb+c&state=\(Self.state)&session_state=1#_=_"))
        let credential = try await endpoint.exchange(url, for: request)
        #expect(credential.accessToken == "s3cret-new")
        #expect(credential.scope == ["notes.read"])
        #expect(
            transport.attempts.map(\.form) == [
                "grant_type=authorization_code&code=a%2Fb%20c&redirect_uri=com.example.notes%3A%2Fsigned-in"
                    + "&code_verifier=\(Self.verifier)&client_id=app"
            ]
        )
    }

    @Test(
        "only the answer to the request is exchanged",
        arguments: [
            ("code=c&state=STATE", nil),
            ("code=c", .stateMismatch),
            ("", .stateMismatch),
            ("code=c&state=", .stateMismatch),
            ("code=c&state=other", .stateMismatch),
            ("code=c&state=STATEx", .stateMismatch),
            ("code=c&State=STATE", .stateMismatch),
            ("error=access_denied", .stateMismatch),
            ("error=access_denied&state=other", .stateMismatch),
            ("code=c&state=STATE&state=STATE", .malformedReply(reason: "the redirect has several values of state")),
            ("code=c&code=c&state=STATE", .malformedReply(reason: "the redirect has several values of code")),
            ("code=c&state=STATE&iss=https%3A%2F%2Fid.test", nil),
            ("code=c&state=STATE&iss=https://id.test", nil),
            ("code=c&state=STATE&iss=https%3A%2F%2Fid.test%2F", .issuerMismatch),
            ("code=c&state=STATE&iss=", .issuerMismatch),
            ("error=access_denied&state=STATE&iss=https://evil.test", .issuerMismatch),
            (
                "code=c&state=STATE&iss=https://id.test&iss=https://id.test",
                .malformedReply(reason: "the redirect has several values of iss")
            ),
            ("error=access_denied&state=STATE", .accessDenied),
            ("error=access_denied&code=c&state=STATE", .accessDenied),
            ("error=server_error&state=STATE", .unavailable),
            ("error=temporarily_unavailable&state=STATE", .unavailable),
            ("error=invalid_scope&state=STATE", .misconfigured(code: "invalid_scope")),
            ("error=unsupported_response_type&state=STATE", .misconfigured(code: "unsupported_response_type")),
            ("error=invalid_grant&state=STATE", .misconfigured(code: "invalid_grant")),
            ("error=login_required&state=STATE", .misconfigured(code: "login_required")),
            ("error=&state=STATE", .malformedReply(reason: "the redirect's error has no code")),
            ("error=a&error=b&state=STATE", .malformedReply(reason: "the redirect has several values of error")),
            ("state=STATE", .malformedReply(reason: "the redirect has neither a code nor an error")),
            ("code=&state=STATE", .malformedReply(reason: "the redirect has neither a code nor an error")),
            ("code=%FF&state=STATE", .malformedReply(reason: "the redirect's query is not form-encoded")),
        ] as [(String, OAuthError.Kind?)]
    )
    func answers(query: String, kind: OAuthError.Kind?) async throws {
        let query = query.replacingOccurrences(of: "STATE", with: Self.state)
        let (error, sendCount) = try await Self.exchange("\(Self.redirect)?\(query)")
        #expect(error?.kind == kind)
        #expect(sendCount == (kind == nil ? 1 : 0))
        #expect(error?.endsSession != true)
    }

    @Test("an issuer is required of a server that always names itself (RFC 9207 §2.4)")
    func issuer() async throws {
        let server = AuthorizationServer(
            issuer: "https://id.test",
            tokenEndpoint: "https://id.test/token",
            authorizationEndpoint: "https://id.test/authorize",
            namesIssuerInRedirects: true
        )
        let url = "\(Self.redirect)?code=c&state=\(Self.state)"
        #expect(try await Self.exchange(url, server: server).error?.kind == .issuerMismatch)
        #expect(try await Self.exchange(url + "&iss=https://id.test", server: server).error == nil)
    }

    @Test("a request of one server is not answered at another")
    func mixUp() async throws {
        let transport = ScriptedTransport()
        let request = try Self.endpoint().authorize(redirect: Self.redirect)
        let other = AuthorizationServer(issuer: "https://other.test", tokenEndpoint: "https://other.test/token")
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(Self.state)"))
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await Self.endpoint(transport, server: other).exchange(url, for: request)
        }
        #expect(error?.kind == .issuerMismatch)
        #expect(transport.count == 0)
    }

    @Test(
        "the redirect leads to the same scheme, host, port and path, whatever their case where it has none",
        arguments: [
            ("com.example.notes:/signed-in", "COM.example.Notes:/signed-in", true),
            ("com.example.notes:/signed-in", "com.example.notes:/Signed-in", false),
            ("com.example.notes:/signed-in", "com.example.notes:/signed-in/", false),
            ("com.example.notes:/signed-in", "com.example.notes:///signed-in", false),
            ("com.example.notes:/signed-in", "com.example.other:/signed-in", false),
            ("https://notes.test/in", "https://NOTES.test:443/in", true),
            ("https://notes.test", "https://notes.test/", true),
            ("https://notes.test/in?a=b", "https://notes.test/in", true),
            ("https://notes.test/in", "http://notes.test/in", false),
            ("https://notes.test/in", "https://notes.test:444/in", false),
            ("https://notes.test/in", "https://notes.test.evil.test/in", false),
            ("https://notes.test/in", "https://notes.test@evil.test/in", false),
            ("https://notes.test/in", "https://user@notes.test/in", false),
            ("http://127.0.0.1:49152/in", "http://127.0.0.1:49152/in", true),
            ("http://127.0.0.1:49152/in", "http://127.0.0.1:49153/in", false),
            ("http://127.0.0.1:49152/in", "http://localhost:49152/in", false),
            ("http://localhost/in", "http://localhost:80/in", true),
            ("http://localhost/in", "http://localhost:443/in", false),
        ]
    )
    func target(redirect: String, url: String, isSame: Bool) async throws {
        let (error, sendCount) = try await Self.exchange("\(url)?code=c&state=\(Self.state)", redirect: redirect)
        let reason = "the URL is not that of this sign-in's redirect"
        #expect(error?.kind == (isSame ? nil : .invalidParameter(reason: reason)))
        #expect(sendCount == (isSame ? 1 : 0))
    }

    @Test("the server's words in a redirect are kept and not printed")
    func serverDescription() async throws {
        let url = "\(Self.redirect)?error=invalid_scope&error_description=s3cret+words&state=\(Self.state)"
        let error = try #require(try await Self.exchange(url).error)
        #expect(error.serverDescription == "s3cret words")
        #expect(!EndpointFixture.printed(error).contains("s3cret"))
    }

    @Test("100 000 mutated redirects bring a code or a typed error, and none traps")
    func fuzz() async throws {
        let request = try Self.endpoint().authorize(redirect: "https://notes.test/in")
        let query = "code=c%2Fd&state=\(Self.state)&iss=https%3A%2F%2Fid.test"
        var inputs = InputFuzzer(
            seed: 3,
            [
                "https://notes.test/in?\(query)", "https://notes.test:443/in?\(query)#_=_",
                "https://notes.test/in?error=access_denied&error_description=a+b&state=\(Self.state)",
            ]
        )
        var (codeCount, kinds) = (0, Set<String>())
        for _ in 1...100_000 {
            let url = String(decoding: await inputs.next(), as: UTF8.self)
            do throws(OAuthError) {
                let code = try RedirectReply(url, to: request.redirect).code(for: request, namesIssuer: false)
                if !code.isEmpty { codeCount += 1 }
            } catch {
                kinds.insert(String("\(error.kind)".prefix { $0 != "(" }))
            }
        }
        #expect(codeCount > 1000)
        #expect(
            kinds.isSuperset(of: [
                "stateMismatch", "issuerMismatch", "invalidParameter", "malformedReply", "accessDenied",
                "misconfigured",
            ])
        )
    }
}
