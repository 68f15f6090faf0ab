import Foundation
import Nautilus
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("TokenReply")
struct TokenReplyTests {
    private static func reply(
        _ body: String,
        _ contentType: String? = "application/json"
    ) throws(MalformedReply) -> OAuthCredential {
        try OAuthCredential(reply: Data(body.utf8), contentType: contentType)
    }

    private static func reason(_ body: String, _ contentType: String? = "application/json") -> String? {
        do throws(MalformedReply) {
            _ = try reply(body, contentType)
            return nil
        } catch {
            return error.reason
        }
    }

    /// A reply with one more field.
    private static func reply(with field: String) throws(MalformedReply) -> OAuthCredential {
        try reply(#"{"access_token":"a","token_type":"Bearer",\#(field)}"#)
    }

    private static let old = OAuthCredential(
        accessToken: "a0",
        refreshToken: "r0",
        scope: ["old"],
        lifetime: .seconds(60),
        receivedAt: .distantPast
    )

    @Test("a whole reply is taken as it is")
    func whole() throws {
        let reply = try Self.reply(
            #"{"access_token":"a1","token_type":"bearer","expires_in":3600,"refresh_token":"r1","scope":"y x"}"#
        )
        let credential = reply.completed(replacing: Self.old, requested: ["z"], receivedAt: EndpointFixture.now)
        #expect(
            credential
                == OAuthCredential(
                    accessToken: "a1",
                    refreshToken: "r1",
                    tokenType: "bearer",
                    scope: ["x", "y"],
                    lifetime: .seconds(3600),
                    receivedAt: EndpointFixture.now
                )
        )
    }

    @Test("B19: a refresh reply without a refresh token keeps the old one")
    func refreshToken() throws {
        for field in [#""x":1"#, #""refresh_token":null"#, #""refresh_token":"""#] {
            let reply = try Self.reply(with: field)
            #expect(reply.completed(replacing: Self.old, receivedAt: EndpointFixture.now).refreshToken == "r0")
            #expect(reply.completed(receivedAt: EndpointFixture.now).refreshToken == nil)
        }
    }

    @Test("B19: a reply without expires_in has no expiry, whatever the old credential had")
    func noExpiry() throws {
        let credential = try Self.reply(with: #""x":1"#).completed(
            replacing: Self.old,
            receivedAt: EndpointFixture.now
        )
        #expect(credential.lifetime == nil)
        #expect(credential.receivedAt == EndpointFixture.now)
    }

    @Test(
        "B19: a reply without scope keeps what was asked for, or else what was allowed",
        arguments: [
            (#""x":1"#, nil, ["old"]), (#""x":1"#, ["asked"], ["asked"]), (#""x":1"#, [], ["old"]),
            (#""scope":null"#, nil, ["old"]), (#""scope":"""#, ["asked"], ["asked"]),
            (#""scope":"said""#, ["asked"], ["said"]), (#""scope":["b","a"]"#, nil, ["a", "b"]),
            (#""scope":1"#, ["asked"], ["asked"]), (#""scope":[1]"#, nil, ["old"]),
        ] as [(String, [String]?, [String])]
    )
    func scope(field: String, requested: [String]?, expected: [String]) throws {
        let credential = try Self.reply(with: field)
            .completed(replacing: Self.old, requested: requested.map { OAuthScope($0) }, receivedAt: .distantPast)
        #expect(credential.scope == OAuthScope(expected))
    }

    @Test(
        "the type of a token is kept as it is written, also another one",
        arguments: ["Bearer", "bEARER", "DPoP", "mac"]
    )
    func tokenType(type: String) throws {
        let reply = try Self.reply(#"{"access_token":"a","token_type":"\#(type)"}"#)
        #expect(reply.completed(receivedAt: .distantPast).tokenType == type)
    }

    @Test(
        "a token whose type the server leaves out is a Bearer token",
        arguments: [#""x":1"#, #""token_type":null"#, #""token_type":"""#]
    )
    func noTokenType(field: String) throws {
        let reply = try Self.reply(#"{"access_token":"a","refresh_token":"r",\#(field)}"#)
        let credential = reply.completed(receivedAt: .distantPast)
        #expect((credential.tokenType, credential.refreshToken) == ("Bearer", "r"))
    }

    @Test(
        "expires_in is a number, or a text of digits; what cannot be meant is no expiry, and never a trap",
        arguments: [
            ("3600", .seconds(3600)), (#""3600""#, .seconds(3600)), ("1", .seconds(1)), ("1.5", .milliseconds(1500)),
            ("3.6e3", .seconds(3600)), ("0", nil), ("-1", nil), ("-1e300", nil), ("0.999", nil), (#""-1""#, nil),
            (#""soon""#, nil), (#""""#, nil), (#"" 60""#, nil), (#""NaN""#, nil), (#""inf""#, nil), (#""0x10""#, nil),
            (#""1e3""#, nil), (#""٣""#, nil), (#"".""#, nil), (#""1.2.3""#, nil), ("true", nil), ("null", nil),
            ("[60]", nil), ("{}", nil), ("1e-320", nil), ("9223372036854775807", .seconds(3_155_760_000)),
            ("99999999999999999999999", .seconds(3_155_760_000)), ("1e308", .seconds(3_155_760_000)),
            (#""99999999999999999999999""#, .seconds(3_155_760_000)),
        ] as [(String, Duration?)]
    )
    func lifetime(value: String, expected: Duration?) throws {
        #expect(try Self.reply(with: #""expires_in":\#(value)"#).lifetime == expected)
    }

    @Test("a number too large for any type is no expiry, or no JSON, and never a trap")
    func tooLarge() {
        for value in ["1e400", "-1e400", "1" + String(repeating: "0", count: 400)] {
            let reply = try? Self.reply(with: #""expires_in":\#(value)"#)
            #expect(reply == nil || reply?.lifetime == nil || reply?.lifetime == .seconds(3_155_760_000))
        }
        let digits = String(repeating: "9", count: 1000)
        #expect((try? Self.reply(with: #""expires_in":"\#(digits)""#))?.lifetime == .seconds(3_155_760_000))
    }

    @Test(
        "a token reply has the required fields, of the right type",
        arguments: [
            ("", "it is no JSON object"),
            ("<html>", "it is no JSON object"),
            ("[]", "it is no JSON object"),
            ("\"a\"", "it is no JSON object"),
            ("null", "it is no JSON object"),
            ("5", "it is no JSON object"),
            (#"{"access_token":"a","token_type":"Bearer""#, "it is no JSON object"),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":NaN}"#, "it is no JSON object"),
            ("{}", "access_token is missing"),
            (#"{"access_token":null,"token_type":"Bearer"}"#, "access_token is missing"),
            (#"{"access_token":"","token_type":"Bearer"}"#, "access_token is empty"),
            (#"{"access_token":true,"token_type":"Bearer"}"#, "access_token is no text"),
            (#"{"access_token":["a"],"token_type":"Bearer"}"#, "access_token is no text"),
            (#"{"access_token":{},"token_type":"Bearer"}"#, "access_token is no text"),
            (#"{"access_token":"a\nb","token_type":"Bearer"}"#, "access_token has characters that no token has"),
            (#"{"access_token":"é","token_type":"Bearer"}"#, "access_token has characters that no token has"),
        ]
    )
    func malformed(body: String, reason: String) {
        #expect(Self.reason(body) == reason)
    }

    @Test(
        "F2: a JSON object with an access token is a token reply under any label, or none, and a page is none",
        arguments: [
            nil, "application/json", "Application/JSON ; charset=utf-8", "application/token+json", "text/html",
            "text/html; charset=UTF-8", "text/plain", "Text/Plain; charset=utf-8", "text/javascript",
            "application/x-www-form-urlencoded", "application/octet-stream", "application/jsonx", "", "json", ";",
        ]
    )
    func contentType(type: String?) {
        #expect(Self.reason(#"{"access_token":"a","token_type":"Bearer"}"#, type) == nil)
        #expect(Self.reason("\u{FEFF}" + #" {"access_token":"a","token_type":"Bearer"}"#, type) == nil)
        #expect(Self.reason("<html>access_token</html>", type) != nil)
    }

    @Test(
        "F2: no other field of a token reply makes it useless, whatever its JSON type",
        arguments: [
            (#""token_type":true"#, "Bearer", nil), (#""token_type":["Bearer"]"#, "Bearer", nil),
            (#""refresh_token":12345678901234567890"#, "Bearer", "12345678901234567890"),
            (#""refresh_token":false"#, "Bearer", nil), (#""refresh_token":{}"#, "Bearer", nil),
            (#""scope":{},"refresh_token":"r1","expires_in":[]"#, "Bearer", "r1"),
        ]
    )
    func formalities(field: String, type: String, refreshToken: String?) throws {
        let reply = try Self.reply(#"{"access_token":"a",\#(field)}"#)
        #expect((reply.tokenType, reply.refreshToken) == (type, refreshToken))
        #expect(try Self.reply(#"{"access_token":12}"#).accessToken == "12")
    }

    @Test(
        "a form, also one that is called text, is read like JSON, and one that is none refused",
        arguments: [
            "application/x-www-form-urlencoded; charset=utf-8", "Application/X-WWW-Form-Urlencoded", "text/plain",
        ]
    )
    func form(type: String) throws {
        let body = "access_token=a%2Bb&token_type=bearer&scope=repo+user&expires_in=3600&refresh_token=r"
        let reply = try OAuthCredential(reply: Data(body.utf8), contentType: type)
        #expect((reply.accessToken, reply.refreshToken) == ("a+b", "r"))
        #expect(reply.scope == ["repo", "user"])
        #expect(reply.lifetime == .seconds(3600))
        #expect(Self.reason("access_token=%", type) == "it is no form")
        #expect(Self.reason("token_type=bearer", type) == "access_token is missing")
        #expect(Self.reason("Welcome!", type) == "access_token is missing")
        let refusal = Data("error=invalid_grant".utf8)
        #expect(ErrorReply(HttpResponse(header: [.contentType: type], body: refusal))?.kind == .invalidGrant)
        #expect(ErrorReply(HttpResponse(header: [.contentType: "text/html"], body: refusal)) == nil)
    }

    @Test("a reply of 256 KiB is read, and one of a byte more is not")
    func size() {
        let body = #"{"access_token":"a","token_type":"Bearer"}"#
        let padding = String(repeating: " ", count: ReplyFields.sizeLimit - body.utf8.count)
        #expect(Self.reason(body + padding) == nil)
        #expect(Self.reason(body + padding + " ") == "it is larger than 262144 bytes")
    }

    @Test("a body that nests a hundred thousand deep is refused, not followed down", arguments: ["[", #"{"a":"#])
    func deep(opening: String) {
        let nested = String(repeating: opening, count: 100_000 / opening.utf8.count)
        #expect(Self.reason(#"{"access_token":\#(nested)"#) == "it is no JSON object")
        #expect(Self.reason(nested) == "it is no JSON object")
    }

    @Test("mutated replies are read or refused, and none traps")
    func fuzz() async throws {
        var inputs = InputFuzzer(
            seed: 1,
            [
                #"{"access_token":"a","token_type":"Bearer","expires_in":3600}"#,
                #"{"access_token":"a\u00e9","token_type":"Bearer","expires_in":"60"}"#,
                #"{"access_token":"a","token_type":"Bearer","scope":["a"]}"#,
                #"{"token_type":"Bearer","access_token":"a","refresh_token":"r","expires_in":1e3}"#,
            ]
        )
        var readCount = 0
        let count = trials(20_000)
        for _ in 1...count {
            let input = await inputs.next()
            guard let reply = try? OAuthCredential(reply: Data(input), contentType: nil) else { continue }
            readCount += 1
            let credential = reply.completed(receivedAt: EndpointFixture.now)
            try #require(!credential.accessToken.isEmpty)
            try #require(credential.lifetime.map { (.seconds(1) ... .seconds(3_155_760_000)).contains($0) } ?? true)
        }
        #expect((count / 100..<count / 10 * 9).contains(readCount))
    }
}
