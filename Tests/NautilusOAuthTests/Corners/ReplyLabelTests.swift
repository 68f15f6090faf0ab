import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Replies under any label")
struct ReplyLabelTests {
    private static let labels: [HttpHeader] = [
        [:], [.contentType: "text/html; charset=UTF-8"], [.contentType: "application/octet-stream"],
        [.contentType: "text/javascript"], [.contentType: ""], [.contentType: "application/x-www-form-urlencoded"],
    ]

    @Test("F2: a refresh that is answered by JSON under another label keeps the user signed in", arguments: labels)
    func refreshed(label: HttpHeader) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let body = #"{"access_token":"anna-a2","refresh_token":"anna-r2","expires_in":"3600.5"}"#
            world.server.fail(.answered(.reply(header: label, text: body)))
            try await world.sleep(.seconds(3600))
            world.server.transport.on(.get, "/notes", .reply(text: "ok"))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.carried == ["anna-a2"])
            let stored = try #require(try await world.stored(session))
            #expect(stored.credential.refreshToken == "anna-r2")
            #expect(stored.credential.lifetime == .milliseconds(3_600_500))
            #expect(stored.unanswered == 0)
        }
    }

    @Test("F2: invalid_grant under another label ends the session", arguments: labels)
    func refused(label: HttpHeader) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.answered(.reply(status: 400, header: label, text: #"{"error":"invalid_grant"}"#)))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == .invalidGrant)
            #expect(!session.isSignedIn)
        }
    }

    @Test("F2: a device authorization and a metadata document are read under any label", arguments: labels)
    func others(label: HttpHeader) async throws {
        let codes = #"{"device_code":17,"user_code":4711,"verification_uri":"https://id.test/go","expires_in":"60.0"}"#
        let transport = ScriptedTransport(.reply(header: label, text: codes), .json(EndpointFixture.token))
        let device = try await EndpointFixture.endpoint(transport).authorizeDevice()
        #expect((device.userCode, device.expiresIn) == ("4711", .seconds(60)))

        let document = #"{"issuer":"https://id.test","token_endpoint":"https://id.test/token"}"#
        let server = try await AuthorizationServer.discover(
            issuer: "https://id.test",
            transport: ScriptedTransport(.reply(header: label, text: document)),
            clock: ManualClock()
        )
        #expect(server.tokenEndpoint == "https://id.test/token")
    }
}
