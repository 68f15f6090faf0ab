import DemoServers
import Foundation
import Testing

@Suite("TokenRoute", .timeLimit(.minutes(10)))
struct TokenRouteTests {
    @Test("a refresh is answered in the form of RFC 6749, and no cache keeps it")
    func refresh() throws {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero, scope: DemoScope("notes.read"))
        let answer = try #require(bench.refresh(pair.refreshToken))
        #expect(answer.status == 200)
        #expect(answer.header["Content-Type"] == "application/json")
        #expect(answer.header["Cache-Control"] == "no-store")
        #expect(answer.header["Pragma"] == "no-cache")
        #expect(answer.reply.tokenType == "Bearer")
        #expect(answer.reply.expiresIn == 100)
        #expect(answer.reply.scope == "notes.read")
        #expect(bench.server.tokens.verify(answer.reply.accessToken ?? "", at: .zero) == .valid)
        #expect(bench.refresh(answer.reply.refreshToken ?? "")?.status == 200)
        #expect(bench.counters.tokenRequests == [.refreshToken: 2])
        #expect(bench.counters.refreshes == 2)
    }

    @Test("reuse and grace are told apart by their counters")
    func reuse() {
        let bench = OAuthBench()
        bench.server.tokens.gracePeriod = .seconds(10)
        let pair = bench.server.tokens.signIn(at: .zero)
        let first = bench.refresh(pair.refreshToken)
        bench.now = .seconds(9)
        let second = bench.refresh(pair.refreshToken)
        #expect(second?.reply.accessToken == first?.reply.accessToken)
        #expect(second?.reply.refreshToken == first?.reply.refreshToken)
        #expect(second?.reply.expiresIn == 91)
        #expect(bench.counters.graceReuses == 1)
        #expect(bench.counters.reuseDetected == 0)

        bench.now = .seconds(10)
        #expect(bench.refresh(pair.refreshToken)?.reply.error == "invalid_grant")
        #expect(bench.counters.graceReuses == 1)
        #expect(bench.counters.reuseDetected == 1)
        #expect(bench.counters.refreshes == 3)
        // Its family has ended: that is no second theft.
        #expect(bench.refresh(pair.refreshToken)?.reply.error == "invalid_grant")
        #expect(bench.counters.reuseDetected == 1)
    }

    @Test("client credentials yield an access token and nothing to refresh it with")
    func clientCredentials() throws {
        let bench = OAuthBench()
        let form: KeyValuePairs = ["grant_type": "client_credentials", "scope": "notes.write"]
        let answer = try #require(bench.post(form, authorization: ApiRequest.basic(.service)))
        #expect(answer.status == 200)
        #expect(answer.reply.scope == "notes.write")
        #expect(answer.reply.refreshToken == nil)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("refresh_token"))
        let token = answer.reply.accessToken ?? ""
        #expect(bench.server.tokens.verify(token, at: .seconds(99)) == .valid)
        #expect(bench.server.tokens.verify(token, at: .seconds(100)) == .expired)
        #expect(bench.server.tokens.scope(of: token) == DemoScope("notes.write"))
        #expect(bench.counters.tokenRequests == [.clientCredentials: 1])
    }

    @Test(
        "a request that lacks something is told so",
        arguments: [
            (["scope": "notes.read"], "invalid_request"),
            (["grant_type": ""], "invalid_request"),
            (["grant_type": "password"], "unsupported_grant_type"),
            (["grant_type": "refresh_token"], "invalid_request"),
            (["grant_type": "refresh_token", "refresh_token": ""], "invalid_request"),
            (["grant_type": "refresh_token", "refresh_token": "garbage"], "invalid_grant"),
            (["grant_type": "authorization_code", "redirect_uri": "a", "code_verifier": "b"], "invalid_request"),
            (["grant_type": "authorization_code", "code": "a", "code_verifier": "b"], "invalid_request"),
            (["grant_type": "authorization_code", "code": "a", "redirect_uri": "b"], "invalid_request"),
            (
                ["grant_type": "authorization_code", "code": "a", "redirect_uri": "b", "code_verifier": "c"],
                "invalid_grant"
            ),
            (["grant_type": OAuthBench.device], "invalid_request"),
            (["grant_type": OAuthBench.device, "device_code": "garbage"], "invalid_grant"),
            (["grant_type": "client_credentials"], "unauthorized_client"),
            (["grant_type": "client_credentials", "client_id": "pretender"], "unauthorized_client"),
            (["grant_type": "refresh_token", "refresh_token": "a", "client_id": "stranger"], "unauthorized_client"),
            (["grant_type": "authorization_code", "client_id": "stranger"], "unauthorized_client"),
            (["grant_type": OAuthBench.device, "client_id": "stranger"], "unauthorized_client"),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func refusals(form: KeyValuePairs<String, String>, error: String) {
        let bench = OAuthBench()
        let answer = bench.post(form)
        #expect(answer?.status == 400)
        #expect(answer?.reply.error == error)
        #expect(answer?.header["Cache-Control"] == "no-store")
    }

    @Test("a field that comes twice makes no valid request, and spends nothing")
    func repeated() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        let answer = bench.post([
            "grant_type": "refresh_token", "refresh_token": pair.refreshToken, "refresh_token": "other",
        ])
        #expect(answer?.reply.error == "invalid_request")
        #expect(bench.counters.refreshes == 0)
        #expect(bench.refresh(pair.refreshToken)?.status == 200)
    }

    @Test("a refresh or a client that asks for too much gets invalid_scope, and spends nothing")
    func scopes() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero, scope: DemoScope("notes.read"))
        for scope in ["notes.write", "notes.read notes.write", "notes.admin", " "] {
            #expect(bench.refresh(pair.refreshToken, scope: scope)?.reply.error == "invalid_scope", "\(scope)")
        }
        #expect(bench.refresh(pair.refreshToken, scope: "notes.read")?.reply.scope == "notes.read")
        let form: KeyValuePairs = ["grant_type": "client_credentials", "scope": "notes.admin"]
        #expect(bench.post(form, authorization: ApiRequest.basic(.service))?.reply.error == "invalid_scope")
    }

    @Test("a refresh token of another client is invalid_grant, and stays good for its own")
    func otherClient() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        #expect(bench.refresh(pair.refreshToken, client: "pretender")?.reply.error == "invalid_grant")
        #expect(bench.refresh(pair.refreshToken)?.status == 200)
        #expect(bench.counters.reuseDetected == 0)
    }
}
