import DemoServers
import Foundation
import Testing

@Suite("AuthorizationRoute and the exchange of its codes", .timeLimit(.minutes(10)))
struct AuthorizationRouteTests {
    private static let good = [
        "response_type": "code", "client_id": "notes-app", "redirect_uri": OAuthBench.redirectUri, "state": "a b+c&d",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
    ]

    /// The good query, with some fields changed; an empty value counts as omitted.
    private static func request(_ changes: [String: String]) -> ApiRequest {
        let fields = good.merging(changes) { $1 }
        let query = fields.map { FormParameters.encode([$0.key: $0.value]) }.joined(separator: "&")
        return ApiRequest(method: "GET", path: OAuthEndpoint.authorize.rawValue, query: FormParameters(query))
    }

    @Test("the browser comes back with a code, the state as it was, and who issued it")
    func success() throws {
        let bench = OAuthBench()
        let answer = try #require(bench.send(Self.request([:])))
        #expect(answer.status == 302)
        #expect(answer.header["Location"]?.hasPrefix(OAuthBench.redirectUri + "?code=staging.code.1.") == true)
        #expect(answer.header["Cache-Control"] == "no-store")
        #expect(answer.redirect["state"] == "a b+c&d")
        #expect(answer.redirect["iss"] == "http://127.0.0.1:8080")
        #expect(answer.redirect["error"] == nil)
    }

    @Test("an address keeps its own query, and without a state there is none")
    func ownQuery() throws {
        let bench = OAuthBench()
        let uri = "http://127.0.0.1:1/back?tenant=a%20b"
        let answer = try #require(bench.send(Self.request(["redirect_uri": uri, "state": ""])))
        #expect(answer.header["Location"]?.hasPrefix(uri + "&code=") == true)
        #expect(answer.redirect["state"] == nil)
        #expect(bench.exchange(answer.redirect["code"] ?? "", redirectUri: uri)?.status == 200)
    }

    @Test(
        "a failure is sent back with the state, and without a code",
        arguments: [
            (["response_type": ""], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["code_challenge": ""], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
            (["code_challenge_method": ""], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
            (["scope": "notes.admin"], "invalid_scope"), (["client_id": "stranger"], "unauthorized_client"),
        ]
    )
    func failures(changes: [String: String], error: String) {
        let bench = OAuthBench()
        let answer = bench.send(Self.request(changes))
        #expect(answer?.status == 302)
        #expect(answer?.redirect["error"] == error)
        #expect(answer?.redirect["state"] == "a b+c&d")
        #expect(answer?.redirect["iss"] == "http://127.0.0.1:8080")
        #expect(answer?.redirect["code"] == nil)
    }

    @Test("a field that comes twice is sent back as invalid_request")
    func repeated() {
        let bench = OAuthBench()
        var request = Self.request([:])
        let fields = Self.good.map { FormParameters.encode([$0.key: $0.value]) } + ["scope=notes.read", "scope="]
        request.query = FormParameters(fields.joined(separator: "&"))
        #expect(bench.send(request)?.redirect["error"] == "invalid_request")
    }

    @Test(
        "nobody is sent to an address that is not the client's: the page stays here",
        arguments: [
            ["client_id": ""], ["client_id": "nobody"], ["redirect_uri": ""],
            ["redirect_uri": "https://evil.example/"],
            // Another client's.
            ["client_id": "pretender", "redirect_uri": "example.notes:/signed-in"],
        ]
    )
    func pages(changes: [String: String]) {
        let bench = OAuthBench()
        let answer = bench.send(Self.request(changes))
        #expect(answer?.status == 400)
        #expect(answer?.header["Location"] == nil)
        #expect(answer?.header["Content-Type"] == "text/html; charset=utf-8")
    }

    @Test("a code is exchanged for a pair of its scope")
    func exchange() throws {
        let bench = OAuthBench()
        let code = bench.code(scope: "notes.read")
        let reply = try #require(bench.exchange(code)).reply
        #expect(reply.scope == "notes.read")
        #expect(bench.server.tokens.verify(reply.accessToken ?? "", at: .zero) == .valid)
        #expect(bench.refresh(reply.refreshToken ?? "")?.status == 200)
        #expect(bench.counters.codesExchanged == 1)
        #expect(bench.counters.tokenRequests == [.authorizationCode: 1, .refreshToken: 1])
    }

    @Test("a code that does not fit is invalid_grant, and still good for its owner")
    func misfits() {
        let bench = OAuthBench()
        let code = bench.code()
        let misfits = [
            bench.exchange(code, redirectUri: "http://127.0.0.1:4712/back"),
            bench.exchange(code, verifier: OAuthBench.verifier + "a"),
            bench.exchange(code, verifier: "short"),
            bench.exchange(code, client: "pretender"),
            bench.exchange("garbage"),
        ]
        #expect(misfits.map { $0?.reply.error } == Array(repeating: "invalid_grant", count: 5))
        #expect(bench.counters.codesExchanged == 0)
        #expect(bench.exchange(code)?.status == 200)
    }

    @Test("a code that comes a second time ends what the first one began")
    func replay() throws {
        let bench = OAuthBench()
        let code = bench.code()
        let reply = try #require(bench.exchange(code)).reply
        #expect(bench.exchange(code)?.reply.error == "invalid_grant")
        #expect(bench.server.tokens.verify(reply.accessToken ?? "", at: .zero) == .revoked)
        #expect(bench.refresh(reply.refreshToken ?? "")?.reply.error == "invalid_grant")
        #expect(bench.counters.codesExchanged == 1)
        #expect(bench.counters.reuseDetected == 0)
    }

    @Test("a code expires after a minute")
    func expiry() {
        let bench = OAuthBench()
        let code = bench.code()
        bench.now = .seconds(60)
        #expect(bench.exchange(code)?.reply.error == "invalid_grant")
        bench.now = .seconds(60) - .nanoseconds(1)
        #expect(bench.exchange(code)?.status == 200)
    }
}
