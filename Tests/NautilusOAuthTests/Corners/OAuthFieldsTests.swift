import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Other fields of a token reply")
struct OAuthFieldsTests {
    private static let received = Date(timeIntervalSince1970: 1_800_000_000)

    /// The fields of a refresh that is answered so.
    private static func fields(of body: String, _ header: HttpHeader = [:]) async throws -> [String: String] {
        let transport = ScriptedTransport(.reply(header: header, text: body))
        return try await EndpointFixture.endpoint(transport).refresh(EndpointFixture.credential).fields
    }

    @Test(
        "F18: the other fields of a token reply are kept, texts as they are and anything else as its JSON text",
        arguments: [
            (#""instance_url":"https:\/\/na1.test""#, ["instance_url": "https://na1.test"]),
            (#""id_token":"h.p.s","x":"""#, ["id_token": "h.p.s", "x": ""]),
            (#""n":12345678901234567890.10 , "m" : -1e400"#, ["n": "12345678901234567890.10", "m": "-1e400"]),
            (#""t":true,"f":false,"z":null"#, ["t": "true", "f": "false"]),
            (
                #""o": {"a": [1, "}, \"b\":", {"c":null}]} ,"p":[] "#,
                ["o": #"{"a": [1, "}, \"b\":", {"c":null}]}"#, "p": "[]"]
            ),
            (#""l":["a","b"]"#, ["l": #"["a","b"]"#]), (#""\u0061\"b":1"#, [#"a"b"#: "1"]),
            (#""é":{"ü":"😀"},"":2"#, ["é": #"{"ü":"😀"}"#, "": "2"]), (#""d":1,"d":2"#, ["d": "1"]),
            (#""scope":"a","expires_in":60,"refresh_token":"r","token_type":"Bearer""#, [:]),
        ]
    )
    func kept(members: String, fields: [String: String]) async throws {
        let isHuge = members.contains("1e400")
        let body = #"{"access_token":"a",\#(members)}"#
        // A number beyond every type may be refused by the decoder as a whole.
        let read = isHuge ? (try? await Self.fields(of: body)) ?? fields : try await Self.fields(of: body)
        #expect(read == fields)
        #expect(try await Self.fields(of: "\n{\n" + body.dropFirst() + "\n") == read)
    }

    @Test("F18: the other fields of a form are kept as texts")
    func form() async throws {
        let header: HttpHeader = [.contentType: "application/x-www-form-urlencoded"]
        let fields = try await Self.fields(of: "access_token=a&token_type=bearer&id=7&name=a+b", header)
        #expect(fields == ["id": "7", "name": "a b"])
    }

    @Test("F18: every grant's credential has the other fields of its reply")
    func grants() async throws {
        let reply = ScriptedReply.json(["access_token": "a", "instance_url": "https://na1.test"])
        let endpoint = EndpointFixture.endpoint(ScriptedTransport(reply))
        #expect(try await endpoint.clientCredentials().fields["instance_url"] == "https://na1.test")
    }

    @Test("F18: a field that a refresh leaves out, or has as null, stays; one that it brings is replaced")
    func refreshed() async throws {
        let old = OAuthCredential(accessToken: "a", refreshToken: "r", fields: ["a": "1", "b": "2", "c": "3"])
        let reply = ScriptedReply.reply(text: #"{"access_token":"a2","b":"new","c":null,"d":4}"#)
        let fresh = try await EndpointFixture.endpoint(ScriptedTransport(reply)).refresh(old)
        #expect(fresh.fields == ["a": "1", "b": "new", "c": "3", "d": "4"])
    }

    @Test("F18: a session stores the other fields, keeps them through a refresh, and another process has them")
    func session() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let signIn = world.server.signIn("anna", at: world.date)
            try await session.signIn(
                OAuthCredential(
                    accessToken: signIn.accessToken,
                    refreshToken: signIn.refreshToken,
                    lifetime: signIn.lifetime,
                    receivedAt: signIn.receivedAt,
                    fields: ["instance_url": "https://na1.test"]
                )
            )
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 1)
            #expect(session.current?.credential.fields == ["instance_url": "https://na1.test"])
            let other = world.process()
            try await other.restore()
            #expect(other.current?.credential.fields == ["instance_url": "https://na1.test"])
            #expect(other.current?.credential.refreshToken == "anna-r2")
        }
    }

    @Test("F18: a client's own session keeps the fields that a new credential leaves out")
    func clientCredentials() async throws {
        try await SessionWorld.run { world in
            let transport = ScriptedTransport(clock: world.clock)
            transport.on(.post, "/token", .json(["access_token": "a2", "b": "2"]))
            let endpoint = EndpointFixture.endpoint(transport, clock: world.clock)
            let session = OAuthSession(endpoint: endpoint, refresh: .clientCredentials(scope: nil))
            try await session.signIn(OAuthCredential(accessToken: "a1", fields: ["a": "1", "b": "1"]))
            _ = await world.call(session)
            world.server.transport.on(.get, "/notes", .reply(text: "ok"))
            #expect(await world.call(session).isOk)
            #expect(session.current?.credential.fields == ["a": "1", "b": "2"])
        }
    }

    @Test(
        "F18: stored records from before there were fields are read, and a credential without fields is written as then"
    )
    func stored() throws {
        let literal = #"{"accessToken":"a","receivedAt":0,"tokenType":"Bearer"}"#
        let old = try StoredCredential(session: UUID(), content: Data(literal.utf8)).credential(
            as: OAuthCredential.self
        )
        #expect((old.accessToken, old.fields) == ("a", [:]))
        let credential = OAuthCredential(
            accessToken: "a",
            receivedAt: Date(timeIntervalSinceReferenceDate: 0),
            fields: ["id_token": "h.p.s", "n": "[1, 2]", "é": "\u{0}\"😀"]
        )
        let written = try StoredCredential(session: UUID(), credential: credential)
        #expect(try written.credential(as: OAuthCredential.self) == credential)
        #expect(old != credential)
        let plain = OAuthCredential(accessToken: "a", receivedAt: Date(timeIntervalSinceReferenceDate: 0))
        #expect(
            try String(decoding: StoredCredential(session: UUID(), credential: plain).content, as: UTF8.self) == literal
        )
    }

    @Test("F18: no other field of a reply is printed")
    func redaction() {
        let credential = OAuthCredential(accessToken: "a", fields: ["s3cret-name": "s3cret-value"])
        #expect(!EndpointFixture.printed(credential).contains("s3cret"))
        #expect(!EndpointFixture.printed([credential]).contains("s3cret"))
    }
}
