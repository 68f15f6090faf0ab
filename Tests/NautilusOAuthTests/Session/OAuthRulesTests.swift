import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("The rules of an OAuth session")
struct OAuthRulesTests {
    /// Fitbit's shape of a refusal.
    private struct Refusal: Decodable {
        struct Fault: Decodable { let errorType: String }
        let errors: [Fault]
    }

    /// A reply whose credential is in another object.
    private struct Wrapped: Decodable {
        struct Tokens: Decodable { let token, renewal: String }
        let body: Tokens
    }

    private static let github = OAuthRules.standard.with { $0.endingCodes.insert("bad_refresh_token") }
    private static let fitbit = OAuthRules.standard.with { rules in
        rules.errorCode = { answer in
            let refusal = try? JSONDecoder().decode(Refusal.self, from: answer.body)
            return refusal?.errors.first?.errorType ?? OAuthRules.standard.errorCode(answer)
        }
    }
    private static let wrapped = OAuthRules.standard.with { rules in
        rules.reply = { answer in
            let tokens = try JSONDecoder().decode(Wrapped.self, from: answer.body).body
            return OAuthCredential(accessToken: tokens.token, refreshToken: tokens.renewal, lifetime: .seconds(60))
        }
    }

    private static let fitbitRefusal = #"{"errors":[{"errorType":"invalid_grant","message":"m"}],"success":false}"#

    static let endings: [(OAuthRules, ScriptedReply, String)] =
        [200, 400].flatMap { status -> [(OAuthRules, ScriptedReply, String)] in
            let form = "error=bad_refresh_token&error_description=The+refresh+token+is+expired"
            let header: HttpHeader = [.contentType: "application/x-www-form-urlencoded; charset=utf-8"]
            return [
                (github, .json(["error": "bad_refresh_token"], status: status), "bad_refresh_token"),
                (github, .reply(status: status, header: header, text: form), "bad_refresh_token"),
                (fitbit, .reply(status: status, text: fitbitRefusal), "invalid_grant"),
            ]
        }
        + [
            (fitbit, .reply(status: 401, text: fitbitRefusal), "invalid_grant"),
            (fitbit, .json(["error": "invalid_grant"], status: 400), "invalid_grant"),
        ]
        + ["interaction_required", "login_required", "account_selection_required", "consent_required"].flatMap { code in
            [200, 400, 401, 403].map { (.standard, .json(["error": code], status: $0), code) }
        }

    @Test("F16: an answer that ends the session by its rules costs one token request, and requires a sign-in")
    func ends() async throws {
        for (rules, reply, code) in Self.endings {
            try await SessionWorld.run { world in
                let session = world.process(rules: rules)
                try await session.signIn(world.server.signIn("anna", at: world.date))
                let events = EventLog(session)
                world.server.fail(.answered(reply))
                try await world.sleep(.seconds(3600))
                let results = await world.calls([session, session, session])
                for result in results + [await world.call(session)] {
                    #expect(result.oauthKind == .invalidGrant, "\(code)")
                    #expect(result.error?.requiresSignIn == true, "\(code)")
                    #expect(result.error.map { "\($0)".contains("(\(code))") } == true, "\(code)")
                }
                #expect(!session.isSignedIn)
                #expect(world.server.tokenRequests == 1)
                #expect(await events.names() == ["sessionExpired"])
                #expect(try await world.stored(session) == nil)
            }
        }
    }

    @Test("F16: without the rule, and with an outage whatever it says, the session goes on")
    func goesOn() async throws {
        let refusal = Data(Self.fitbitRefusal.utf8)
        let replies: [(OAuthRules, ScriptedReply)] = [
            (.standard, .json(["error": "bad_refresh_token"])), (Self.fitbit, .status(503, body: refusal)),
            (.standard, .status(400, body: refusal)), (Self.github, .json(["error": "bad_refresh_token"], status: 502)),
            (Self.github, .json(["error": "bad_refresh_token"], status: 302)),
            (
                .standard.with { $0.endingCodes.remove("login_required") },
                .json(["error": "login_required"], status: 400)
            ),
            (.standard.with { $0.errorCode = { _ in nil } }, .json(["error": "invalid_grant"], status: 400)),
        ]
        for (rules, reply) in replies {
            try await SessionWorld.run { world in
                let session = world.process(limits: SessionWorld.impatient, rules: rules)
                try await session.signIn(world.server.signIn("anna", at: world.date))
                world.server.fail(.answered(reply))
                try await world.sleep(.seconds(3600))
                let result = await world.call(session)
                #expect(!result.isOk && result.error?.requiresSignIn == false)
                #expect(session.isSignedIn)
            }
        }
    }

    @Test("F16: a session whose credential a client refreshes for itself ends by the same rules")
    func clientCredentials() async throws {
        try await SessionWorld.run { world in
            let endpoint = EndpointFixture.endpoint(
                ScriptedTransport(.json(["error": "revoked_client"], status: 400), clock: world.clock),
                rules: .standard.with { $0.endingCodes.insert("revoked_client") },
                clock: world.clock
            )
            let session = OAuthSession(endpoint: endpoint, refresh: .clientCredentials(scope: nil))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(7200))
            world.server.revokeAccessTokens()
            let result = await world.call(session)
            #expect(result.oauthKind == .invalidGrant && result.error?.requiresSignIn == true)
            #expect(!session.isSignedIn)
        }
    }

    @Test("F16: a reply of another shape is read by a rule, and the refresh token, scope and fields are kept as usual")
    func reply() async throws {
        let transport = ScriptedTransport(
            .reply(text: #"{"status":0,"body":{"token":"a2","renewal":"r2"}}"#),
            .reply(text: #"{"status":0,"body":{"token":"a3","renewal":""}}"#),
            .reply(text: #"{"status":0,"body":{"token":"","renewal":"r4"}}"#),
            .reply(text: #"{"status":0,"body":{"token":"é","renewal":"r4"}}"#),
            .json(EndpointFixture.token),
            .json(["error": "invalid_grant"])
        )
        let endpoint = EndpointFixture.endpoint(transport, rules: Self.wrapped)
        let old = OAuthCredential(accessToken: "a1", refreshToken: "r1", scope: ["s"], fields: ["id": "7"])
        let second = try await endpoint.refresh(old)
        #expect((second.accessToken, second.refreshToken) == ("a2", "r2"))
        #expect((second.scope, second.fields) == (["s"], ["id": "7"]))
        #expect((second.lifetime, second.receivedAt) == (.seconds(60), EndpointFixture.now))
        let third = try await endpoint.refresh(second)
        #expect((third.accessToken, third.refreshToken) == ("a3", "r2"))
        for kind: OAuthError.Kind in [
            .malformedReply(reason: "access_token is empty"),
            .malformedReply(reason: "access_token has characters that no token has"),
            .malformedReply(reason: "the rule for replies cannot read it"), .invalidGrant,
        ] {
            let error = await EndpointFixture.error { () async throws(OAuthError) in try await endpoint.refresh(third) }
            #expect(error?.kind == kind)
            #expect(!EndpointFixture.printed(error as Any).contains("s3cret"))
        }
    }

    @Test(
        "F16: a token of a type that the rules add is sent as a Bearer token, in any case",
        arguments: ["bot", " Bot "]
    )
    func tokenType(type: String) async throws {
        try await SessionWorld.run { world in
            let session = world.process(rules: .standard.with { $0.tokenTypes.insert("BOT") })
            let tokens = ["access_token": "anna-a2", "refresh_token": "anna-r2", "token_type": type]
            try await session.signIn(world.server.signIn("anna", at: world.date))
            world.server.fail(.answered(.json(tokens)))
            try await world.sleep(.seconds(3600))
            world.server.transport.on(.get, "/notes") { _, _ in .reply(text: "ok") }
            for _ in 1...3 { #expect(await world.call(session).isOk) }
            #expect(world.server.carried == ["anna-a2", "anna-a2", "anna-a2"])
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("F16: a code that repeats a secret ends no session by that, and is not printed")
    func secret() async throws {
        let reply = ScriptedReply.json(["error": "no s3cret-refresh"], status: 400)
        let endpoint = EndpointFixture.endpoint(ScriptedTransport(reply), rules: Self.github)
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await endpoint.refresh(EndpointFixture.credential)
        }
        #expect(error?.kind == .misconfigured(code: "‹redacted›"))
        #expect(error?.code == "‹redacted›")
    }
}
