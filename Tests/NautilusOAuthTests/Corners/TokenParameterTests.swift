import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("More parameters of token requests")
struct TokenParameterTests {
    private static let redirect = "com.example.notes:/signed-in"
    private static let codes =
        #"{"device_code":"d","user_code":"u","verification_uri":"https://id.test/go","expires_in":600,"interval":1}"#

    /// One request of each grant.
    enum Grant: CaseIterable, Sendable { case refresh, code, device, client }

    /// Makes the requests of a grant.
    private static func request(
        _ grant: Grant,
        at endpoint: TokenEndpoint,
        scope: OAuthScope? = nil,
        parameters: HttpQuery = [:]
    ) async throws {
        switch grant {
        case .refresh:
            _ = try await endpoint.refresh(EndpointFixture.credential, scope: scope, parameters: parameters)
        case .code:
            let request = try endpoint.authorize(redirect: redirect, scope: scope)
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let state = items.first { $0.name == "state" }?.value ?? ""
            let url = try #require(URL(string: "\(redirect)?code=c&state=\(state)"))
            _ = try await endpoint.exchange(url, for: request, parameters: parameters)
        case .device:
            let device = try await endpoint.authorizeDevice(scope: scope, parameters: parameters)
            _ = try await endpoint.credential(for: device)
        case .client:
            _ = try await endpoint.clientCredentials(scope: scope, parameters: parameters)
        }
    }

    private static func transport(_ clock: ManualClock) -> ScriptedTransport {
        ScriptedTransport(clock: clock)
            .on(.post, "/token") { _, _ in .json(EndpointFixture.token) }
            .on(.post, "/device") { _, _ in .reply(text: codes) }
            .on(.post, "/revoke") { _, _ in .status(200) }
    }

    @Test("F17: the client's and the request's parameters go with every token request", arguments: Grant.allCases)
    func sent(grant: Grant) async throws {
        try await simulate { simulation in
            let transport = Self.transport(simulation.clock)
            let parameters: HttpQuery = [
                "audience": "https://api.test/?a=b&c", "resource": ["https://a.test", "https://b.test"],
            ]
            let client = OAuthClient(id: "app", authentication: .post(secret: "s"), parameters: parameters)
            let endpoint = EndpointFixture.endpoint(transport, client: client, clock: simulation.clock)
            try await Self.request(grant, at: endpoint, parameters: ["more": 1])
            let extras =
                "&audience=https%3A%2F%2Fapi.test%2F%3Fa%3Db%26c&resource=https%3A%2F%2Fa.test"
                + "&resource=https%3A%2F%2Fb.test&more=1&client_id=app&client_secret=s"
            #expect(transport.count == (grant == .device ? 2 : 1))
            for attempt in transport.attempts { #expect("&\(attempt.form)".hasSuffix(extras)) }
            #expect(transport.attempts.last?.form.hasPrefix("grant_type=") == true)
            #expect(!EndpointFixture.printed(client).contains("api.test"))
        }
    }

    @Test(
        "F17: a request's parameter replaces the client's of the same name, all its values",
        arguments: Grant.allCases
    )
    func replaced(grant: Grant) async throws {
        try await simulate { simulation in
            let transport = Self.transport(simulation.clock)
            let client = OAuthClient(id: "app", parameters: ["resource": ["a", "b"], "audience": "x"])
            let endpoint = EndpointFixture.endpoint(transport, client: client, clock: simulation.clock)
            try await Self.request(grant, at: endpoint, parameters: ["resource": "c"])
            for attempt in transport.attempts {
                #expect("&\(attempt.form)".hasSuffix("&audience=x&resource=c&client_id=app"))
            }
        }
    }

    @Test(
        "F17: what the grant itself needs cannot be overridden: nothing is sent, and a typed error names the parameter",
        arguments: [
            "client_id", "client_secret", "code", "code_verifier", "device_code", "grant_type", "redirect_uri",
            "refresh_token", "scope", "Grant_Type",
        ]
    )
    func refused(name: String) async throws {
        // The exchange of a code names no scope, so a client can add one.
        for grant in Grant.allCases where grant != .code || name != "scope" {
            for isOfClient in [true, false] {
                try await simulate { simulation in
                    let transport = Self.transport(simulation.clock)
                    let client = OAuthClient(id: "app", parameters: isOfClient ? [name: "x"] : [:])
                    let endpoint = EndpointFixture.endpoint(transport, client: client, clock: simulation.clock)
                    let error = await #expect(throws: OAuthError.self) {
                        let own: HttpQuery = isOfClient ? [:] : [name: "x"]
                        try await Self.request(grant, at: endpoint, scope: ["a"], parameters: own)
                    }
                    guard case .invalidParameter(let reason)? = error?.kind else {
                        Issue.record("\(grant): \(String(describing: error))")
                        return
                    }
                    #expect(reason.hasSuffix(" is set by the library"))
                    #expect(transport.count == 0)
                }
            }
        }
    }

    @Test("F17: parameters that cannot be written are refused before anything is sent", arguments: Grant.allCases)
    func unwritable(grant: Grant) async throws {
        let parameters = HttpQuery(encoding: ["audience": ["of": ["an": "object"]]])
        for isOfClient in [true, false] {
            try await simulate { simulation in
                let transport = Self.transport(simulation.clock)
                let client = OAuthClient(id: "app", parameters: isOfClient ? parameters : [:])
                let endpoint = EndpointFixture.endpoint(transport, client: client, clock: simulation.clock)
                let error = await #expect(throws: OAuthError.self) {
                    try await Self.request(grant, at: endpoint, parameters: isOfClient ? [:] : parameters)
                }
                guard case .invalidParameter(let reason)? = error?.kind else {
                    Issue.record("\(grant): \(String(describing: error))")
                    return
                }
                #expect(reason.hasPrefix("the parameters cannot be written"))
                #expect(transport.count == 0)
            }
        }
    }

    @Test("F17: a refused parameter does not use up a sign-in by browser")
    func unredeemed() async throws {
        let endpoint = EndpointFixture.endpoint(Self.transport(ManualClock()))
        let request = try endpoint.authorize(redirect: Self.redirect)
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let state = try #require(items.first { $0.name == "state" }?.value)
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(state)"))
        await #expect(throws: OAuthError.self) {
            try await endpoint.exchange(url, for: request, parameters: ["code": "x"])
        }
        #expect(
            try await endpoint.exchange(url, for: request, parameters: ["audience": "x"]).accessToken == "s3cret-new"
        )
    }

    @Test("F17: a scope can be added where the request has none, and the browser's URL takes several resources")
    func scope() async throws {
        let transport = Self.transport(ManualClock())
        let endpoint = EndpointFixture.endpoint(transport, client: OAuthClient(id: "app", parameters: ["scope": "a b"]))
        _ = try await endpoint.refresh(EndpointFixture.credential)
        #expect(transport.attempts.last?.form.contains("&scope=a%20b&") == true)
        let url = try endpoint.authorize(redirect: Self.redirect, parameters: ["resource": ["b", "a"]]).url
        #expect(url.absoluteString.hasSuffix("&resource=b&resource=a"))
        #expect(!url.absoluteString.contains("scope"))
    }

    @Test("F17: a session's refreshes carry the client's parameters, and its revocation does not")
    func session() async throws {
        try await SessionWorld.run { world in
            let client = OAuthClient(id: "app", parameters: ["audience": "x"])
            let session = world.process(client: client)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            try await session.signOut()
            let forms = world.server.transport.attempts.filter { $0.request.method == .post }.map {
                ($0.request.url, $0.form)
            }
            for (url, form) in forms { #expect(form.contains("audience=x") == (url.path() == "/token")) }
            #expect(forms.count >= 2)
        }
    }

    @Test("F17: a server that repeats a parameter in its error code does not get it printed")
    func secret() async throws {
        let transport = ScriptedTransport(.json(["error": "bad s3cret-key"], status: 400))
        let client = OAuthClient(id: "app", parameters: ["api_key": "s3cret-key"])
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await EndpointFixture.endpoint(transport, client: client).clientCredentials()
        }
        #expect(error?.kind == .misconfigured(code: "‹redacted›"))
    }
}
