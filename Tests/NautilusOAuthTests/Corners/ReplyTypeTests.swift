import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import Testing

@Suite("The media type of a token reply")
struct ReplyTypeTests {
    @Test(
        "F12a: a malformed parameter and a second line cost no token, and the last valid type counts",
        arguments: [
            ["application/json;charset"], ["application/json; charset="], ["application/json;x bogus"],
            ["application/json; x=\"unclosed"], ["application/json", "application/json"],
            ["application/json, application/json"], ["text/html", "application/json"],
            ["nonsense", "application/json"],
        ]
    )
    func types(_ types: [String]) async throws {
        var header: HttpHeader = [:]
        for type in types { header.add(type, to: .contentType) }
        let body = Data(#"{"access_token": "s3cret-new", "token_type": "Bearer"}"#.utf8)
        let transport = ScriptedTransport(.reply(header: header, body: body))
        let fresh = try await EndpointFixture.endpoint(transport).refresh(EndpointFixture.credential)
        #expect(fresh.accessToken == "s3cret-new")
    }

    @Test("F12a: a form is one by its essence, however its parameters are written")
    func form() async throws {
        let header: HttpHeader = [.contentType: "application/x-www-form-urlencoded;charset"]
        let transport = ScriptedTransport(.reply(header: header, text: "access_token=s3cret-new&token_type=bearer"))
        let fresh = try await EndpointFixture.endpoint(transport).refresh(EndpointFixture.credential)
        #expect(fresh.accessToken == "s3cret-new")
    }
}
