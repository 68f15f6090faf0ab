import Foundation
import Nautilus
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("ErrorReply")
struct ErrorReplyTests {
    private static func reply(_ body: String, hiding secrets: [String] = []) -> ErrorReply? {
        ErrorReply(HttpResponse(body: Data(body.utf8)), hiding: secrets)
    }

    @Test(
        "every code of the token endpoint has its meaning (RFC 6749 §5.2, RFC 8628 §3.5, RFC 7009 §2.2.1, OpenID Connect Core §3.1.2.6)",
        arguments: [
            ("invalid_grant", .invalidGrant),
            ("invalid_client", .misconfigured(code: "invalid_client")),
            ("unauthorized_client", .misconfigured(code: "unauthorized_client")),
            ("unsupported_grant_type", .misconfigured(code: "unsupported_grant_type")),
            ("invalid_request", .misconfigured(code: "invalid_request")),
            ("invalid_scope", .misconfigured(code: "invalid_scope")),
            ("unsupported_token_type", .misconfigured(code: "unsupported_token_type")),
            ("access_denied", .accessDenied),
            ("expired_token", .deviceCodeExpired),
            ("authorization_pending", .misconfigured(code: "authorization_pending")),
            ("slow_down", .misconfigured(code: "slow_down")),
            ("server_error", .unavailable),
            ("temporarily_unavailable", .unavailable),
            ("Invalid_Grant", .misconfigured(code: "Invalid_Grant")),
            ("interaction_required", .invalidGrant), ("login_required", .invalidGrant),
            ("account_selection_required", .invalidGrant), ("consent_required", .invalidGrant),
            ("bad_refresh_token", .misconfigured(code: "bad_refresh_token")),
        ] as [(String, OAuthError.Kind)]
    )
    func kinds(code: String, kind: OAuthError.Kind) throws {
        let reply = try #require(Self.reply(#"{"error":"\#(code)","error_description":"why"}"#))
        #expect(reply.code == code)
        #expect(reply.kind == kind)
        #expect(reply.serverDescription == "why")
    }

    @Test(
        "a code keeps the characters that §5.2 allows, and 64 of them",
        arguments: [
            (#"a\nb"#, "ab"), (#"a\"b\\c"#, "abc"), ("aéb", "ab"), ("a b!~", "a b!~"),
            (#"\u0000\u001b[31mred"#, "[31mred"),
            (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
            (String(repeating: "a", count: 65), String(repeating: "a", count: 64)),
        ]
    )
    func sanitised(code: String, expected: String) throws {
        #expect(try #require(Self.reply(#"{"error":"\#(code)"}"#)).code == expected)
    }

    @Test(
        "a reply that names no error is not an error reply",
        arguments: [
            "", "{}", "[]", "<html>", #"{"error":""}"#, #"{"error":null}"#, #"{"error":5}"#, #"{"error":{"code":400}}"#,
            #"{"error":"é"}"#, #"{"error":"\n"}"#, #"{"error":["invalid_grant"]}"#, #""invalid_grant""#,
        ]
    )
    func none(body: String) {
        #expect(Self.reply(body) == nil)
    }

    @Test("a description of another type is left out, and the code stays")
    func description() throws {
        let reply = try #require(Self.reply(#"{"error":"invalid_grant","error_description":5}"#))
        #expect(reply.serverDescription == nil)
        #expect(reply.kind == .invalidGrant)
    }

    @Test("a code that repeats a secret is not shown; one of the standard's is, however short the secret")
    func secrets() throws {
        let repeating = try #require(Self.reply(#"{"error":"bad token s3cret"}"#, hiding: ["s3cret"]))
        #expect(repeating.kind == .misconfigured(code: "‹redacted›"))
        // What is not printed may stand between its characters.
        let hidden = try #require(Self.reply("{\"error\":\"bad token s3\u{200B}cret\"}", hiding: ["s3cret"]))
        #expect(hidden.kind == .misconfigured(code: "‹redacted›"))
        let known = try #require(Self.reply(#"{"error":"invalid_grant"}"#, hiding: ["r", "grant"]))
        #expect(known.kind == .invalidGrant)
    }

    @Test("the server's own words are not printed")
    func redaction() throws {
        let reply = try #require(Self.reply(#"{"error":"invalid_grant","error_description":"s3cret"}"#))
        #expect(!EndpointFixture.printed(reply).contains("s3cret"))
    }

    @Test("mutated replies have a code that can be printed, or none, and none traps")
    func fuzz() async throws {
        var inputs = InputFuzzer(
            seed: 2,
            [
                #"{"error":"invalid_grant"}"#, #"{"error":"invalid_client","error_description":"a\u00e9b"}"#,
                #"{"error":"x y","error_uri":"https://id.test"}"#, #"{"error":{"a":[1,2,{"b":null}]}}"#,
            ]
        )
        var readCount = 0
        let count = trials(20_000)
        for _ in 1...count {
            guard let reply = ErrorReply(HttpResponse(body: Data(await inputs.next()))) else { continue }
            readCount += 1
            try #require((1...64).contains(reply.code.utf8.count))
            try #require(reply.code.utf8.allSatisfy { 0x20...0x7E ~= $0 && !"\"\\".utf8.contains($0) })
        }
        #expect((count / 100..<count / 10 * 9).contains(readCount))
    }
}
