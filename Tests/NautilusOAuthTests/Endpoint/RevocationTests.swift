import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import Testing

@Suite("TokenEndpoint, revocation")
struct RevocationTests {
    private static func revoke(
        credential: OAuthCredential = EndpointFixture.credential,
        server: AuthorizationServer = EndpointFixture.server,
        client: OAuthClient = OAuthClient(id: "app"),
        _ reply: ScriptedReply = .status(200)
    ) async -> (error: OAuthError?, transport: ScriptedTransport) {
        let transport = ScriptedTransport()
        transport.on(.post, "/revoke") { _, _ in reply }
        let endpoint = EndpointFixture.endpoint(transport, server: server, client: client)
        let error = await EndpointFixture.error { () async throws(OAuthError) in try await endpoint.revoke(credential) }
        return (error, transport)
    }

    @Test("the refresh token is revoked, and the access token, which need not end with it (RFC 7009 §2.1)")
    func refreshToken() async {
        let (error, transport) = await Self.revoke(.status(200))
        #expect(error == nil)
        let url = "https://id.test/revoke"
        #expect(transport.attempts.map(\.request.url.absoluteString) == [url, url])
        #expect(
            transport.attempts.map(\.form) == [
                "token=s3cret-refresh&token_type_hint=refresh_token&client_id=app",
                "token=s3cret-old&token_type_hint=access_token&client_id=app",
            ]
        )
    }

    @Test("a server that cannot revoke access tokens is no error, other failures are", arguments: [true, false])
    func unsupported(isUnsupported: Bool) async {
        let transport = ScriptedTransport()
        transport.on(.post, "/revoke") { _, _ in
            guard transport.count > 1 else { return .status(200) }
            return isUnsupported ? .json(["error": "unsupported_token_type"], status: 400) : .status(503)
        }
        let endpoint = EndpointFixture.endpoint(
            transport,
            server: EndpointFixture.server,
            client: OAuthClient(id: "app")
        )
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await endpoint.revoke(EndpointFixture.credential)
        }
        #expect(error?.kind == (isUnsupported ? nil : .unavailable))
    }

    @Test("a credential without a refresh token has its access token revoked, by an authenticated client")
    func accessToken() async {
        let client = OAuthClient(id: "app", authentication: .basic(secret: "s"))
        let (error, transport) = await Self.revoke(
            credential: OAuthCredential(accessToken: "a"),
            client: client,
            .status(200)
        )
        #expect(error == nil)
        #expect(transport.attempts.map(\.form) == ["token=a&token_type_hint=access_token"])
        #expect(transport.attempts.first?.header[.authorization] == "Basic YXBwOnM=")
    }

    @Test("the body of a successful revocation is ignored", arguments: ["", "{}", "OK", "<html>"])
    func body(text: String) async {
        #expect(await Self.revoke(.reply(text: text)).error == nil)
        #expect(await Self.revoke(.reply(status: 204, header: ["Content-Type": "text/html"], text: text)).error == nil)
    }

    @Test(
        "a failure is an error of its kind",
        arguments: [
            (.status(503), .unavailable), (.fail(.networkConnectionLost), .answerLost),
            (
                .json(["error": "unsupported_token_type"], status: 400),
                .misconfigured(code: "unsupported_token_type")
            ),
            (.json(["error": "invalid_client"], status: 401), .misconfigured(code: "invalid_client")),
            (
                .status(307, header: ["Location": "https://elsewhere.test"]),
                .malformedReply(reason: "status 307, a redirect, which is not followed with secrets")
            ),
        ] as [(ScriptedReply, OAuthError.Kind)]
    )
    func failures(reply: ScriptedReply, kind: OAuthError.Kind) async {
        let (error, transport) = await Self.revoke(reply)
        #expect(error?.kind == kind)
        #expect(transport.count == 1)
    }

    @Test("without an endpoint for it, or with one that others can read, nothing is sent")
    func endpoints() async {
        for (url, kind) in [
            (nil, OAuthError.Kind.noEndpoint(name: "revocation_endpoint")), ("http://id.test/revoke", .insecureUrl),
        ] {
            let server = AuthorizationServer(issuer: "i", tokenEndpoint: "https://id.test", revocationEndpoint: url)
            let (error, transport) = await Self.revoke(server: server)
            #expect(error?.kind == kind)
            #expect(transport.count == 0)
        }
    }
}
