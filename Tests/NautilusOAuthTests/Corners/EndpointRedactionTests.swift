import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusOAuth

@Suite("Secrets of the endpoint")
struct EndpointRedactionTests {
    private static let clients: [OAuthClient.Authentication] = [
        .none, .basic(secret: "s3cret-client"), .post(secret: "s3cret-client"),
    ]

    @Test("no value of the endpoint prints a secret, in whatever way it is printed", arguments: clients)
    func values(authentication: OAuthClient.Authentication) async throws {
        let transport = ScriptedTransport(
            .reply(
                text: """
                    {"device_code":"s3cret-device","user_code":"s3cret-user","verification_uri":"https://id.test/go",
                    "verification_uri_complete":"https://id.test/go?c=s3cret-user","expires_in":60}
                    """
            ),
            .json(EndpointFixture.token)
        )
        let server = AuthorizationServer(
            issuer: "https://id.test",
            tokenEndpoint: "https://id.test/token?key=s3cret-key",
            authorizationEndpoint: "https://id.test/authorize?key=s3cret-key",
            deviceAuthorizationEndpoint: "https://id.test/device"
        )
        let client = OAuthClient(id: "app", authentication: authentication)
        let endpoint = EndpointFixture.endpoint(transport, server: server, client: client)
        let request = try endpoint.authorize(redirect: "app:/in")
        let values: [Any] = [
            authentication, client, server, endpoint, request, try await endpoint.authorizeDevice(),
            try await endpoint.refresh(EndpointFixture.credential), request.state, request.verifier,
            TokenForm(.init("refresh_token", "s3cret-refresh")),
            try OAuthCredential(reply: JSONEncoder().encode(EndpointFixture.token), contentType: nil),
        ]
        for value in values {
            let printed = EndpointFixture.printed(value) + EndpointFixture.printed([value])
            #expect(!printed.contains("s3cret"), "\(type(of: value))")
            #expect(!printed.contains(request.state.text), "\(type(of: value))")
            #expect(!printed.contains(request.verifier.text), "\(type(of: value))")
        }
    }

    @Test("no error prints what was sent, or what came back, however a server repeats it", arguments: clients)
    func errors(authentication: OAuthClient.Authentication) async throws {
        let secrets = ["s3cret-refresh", "s3cret-client", "s3cret-new"]
        let replies = secrets.flatMap { secret -> [ScriptedReply] in
            let refusal = ["error": "invalid_grant", "error_description": secret, "error_uri": "https://a?b=\(secret)"]
            return [
                .json(refusal, status: 400), .json(refusal), .json(refusal, status: 503),
                .reply(status: 400, text: secret), .reply(text: secret), .json(["access_token": "\(secret)é"]),
                .reply(text: #"{"access_token":["\#(secret)"],"token_type":1}"#),
                .status(307, header: ["Location": "https://elsewhere.test/?a=\(secret)"]),
                .status(400, header: ["WWW-Authenticate": secret, "Set-Cookie": secret]),
            ]
        }
        let echoes = authentication == .none ? ["s3cret-refresh"] : ["s3cret-refresh", "s3cret-client"]
        for reply in replies + echoes.map({ .json(["error": "bad \($0)"], status: 400) }) {
            let client = OAuthClient(id: "app", authentication: authentication)
            let endpoint = EndpointFixture.endpoint(ScriptedTransport(reply), client: client)
            let error = try #require(
                await EndpointFixture.error { () async throws(OAuthError) in
                    try await endpoint.refresh(EndpointFixture.credential)
                }
            )
            let printed = EndpointFixture.printed(error) + error.localizedDescription
            #expect(!printed.contains("s3cret"), "\(error.kind)")
            #expect(!EndpointFixture.printed(error.kind).contains("s3cret"))
            #expect(!EndpointFixture.printed(error.httpError as Any).contains("s3cret"))
        }
    }
}
