import DemoServers
import Foundation
import Testing

@Suite("The authentication of clients", .timeLimit(.minutes(10)))
struct ClientRequestTests {
    private static let secret = DemoClient.service.secret ?? ""

    @Test(
        "a client is known by Basic, by fields, or by its id alone when it has no secret",
        arguments: [
            ([:], ApiRequest.basic(.service)),
            (["client_id": "notes-service"], ApiRequest.basic(.service)),
            (["client_id": "notes-service", "client_secret": secret], nil),
        ] as [([String: String], String?)]
    )
    func confidential(fields: [String: String], authorization: String?) {
        let bench = OAuthBench()
        let answer = bench.post(form(fields), authorization: authorization)
        #expect(answer?.status == 200)
        #expect(bench.counters.invalidClients == 0)
    }

    @Test(
        "a client that does not prove itself is refused with 401, and challenged when it used Authorization",
        arguments: [
            ([:], ApiRequest.basic("notes-service", "wrong"), true),
            ([:], ApiRequest.basic("nobody", ""), true),
            // The right secret but for a space at the end, which a plus sign stands for.
            ([:], ApiRequest.basic("notes-service", "a demo%3A secret%3F+"), true),
            ([:], "Basic", true),
            ([:], "Basic %%%", true),
            ([:], "Basic " + Data("notes-service".utf8).base64EncodedString(), true),
            ([:], "Bearer token", true),
            (["client_id": "notes-service"], nil, false),
            (["client_id": "notes-service", "client_secret": "wrong"], nil, false),
            (["client_id": "nobody"], nil, false),
            (["client_id": "notes-app", "client_secret": "invented"], nil, false),
        ] as [([String: String], String?, Bool)]
    )
    func refused(fields: [String: String], authorization: String?, isChallenged: Bool) {
        let bench = OAuthBench()
        let answer = bench.post(form(fields), authorization: authorization)
        #expect(answer?.status == 401)
        #expect(answer?.reply.error == "invalid_client")
        #expect(answer?.header["WWW-Authenticate"] == (isChallenged ? #"Basic realm="oauth""# : nil))
        #expect(bench.counters.invalidClients == 1)
        #expect(bench.counters.tokenRequests == [:])
    }

    @Test(
        "a client that identifies itself in two ways, or only by a secret, makes no valid request",
        arguments: [
            (["client_secret": secret], ApiRequest.basic(.service)),
            (["client_id": "notes-app"], ApiRequest.basic(.service)),
            (["client_secret": secret], nil),
        ] as [([String: String], String?)]
    )
    func ambiguous(fields: [String: String], authorization: String?) {
        let bench = OAuthBench()
        let answer = bench.post(form(fields), authorization: authorization)
        #expect(answer?.status == 400)
        #expect(answer?.reply.error == "invalid_request")
        #expect(bench.counters.invalidClients == 0)
    }

    @Test("a public client may say its id with Basic and an empty secret")
    func publicBasic() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        let answer = bench.post(
            ["grant_type": "refresh_token", "refresh_token": pair.refreshToken],
            authorization: ApiRequest.basic("notes-app", "")
        )
        #expect(answer?.status == 200)
    }

    @Test("a request that does not say who it is from counts as the app's")
    func anonymous() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        let answer = bench.post(["grant_type": "refresh_token", "refresh_token": pair.refreshToken])
        #expect(answer?.status == 200)
        #expect(bench.post(["grant_type": "client_credentials"])?.reply.error == "unauthorized_client")
    }

    @Test(
        "every form has one client check",
        arguments: [OAuthEndpoint.token, .deviceAuthorization, .revoke]
    )
    func everywhere(endpoint: OAuthEndpoint) {
        let bench = OAuthBench()
        let answer = bench.post(endpoint, ["client_id": "nobody", "token": "a"])
        #expect(answer?.reply.error == "invalid_client")
        #expect(answer?.header["Cache-Control"] == "no-store")
        #expect(bench.send(ApiRequest(method: "GET", path: endpoint.rawValue))?.status == 405)
    }

    private func form(_ fields: [String: String]) -> KeyValuePairs<String, String> {
        [
            "grant_type": "client_credentials", "client_id": fields["client_id"] ?? "",
            "client_secret": fields["client_secret"] ?? "",
        ]
    }
}
