import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("DeviceReply")
struct DeviceReplyTests {
    private static func body(_ fields: [String: String]) -> Data {
        var all = [
            "device_code": #""d""#, "user_code": #""u""#, "verification_uri": #""https://id.test/go""#,
            "expires_in": "600",
        ]
        all.merge(fields) { $1 }
        return Data(
            "{\(all.filter { !$0.value.isEmpty }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8
        )
    }

    private static func read(_ body: Data) throws(MalformedReply) -> DeviceAuthorization {
        try DeviceAuthorization(body, nil, scope: nil, parameters: [], age: Stopwatch(ManualClock()))
    }

    @Test(
        "an interval that the server does not name, or that makes no sense, is 5 s (RFC 8628 §3.2)",
        arguments: [
            ("", 5), ("1", 1), ("60", 60), (#""7""#, 7), ("0", 5), ("-1", 5), ("null", 5), ("true", 5), (#""soon""#, 5),
            ("1e300", 3_155_760_000),
        ]
    )
    func interval(value: String, seconds: Int64) throws {
        #expect(try Self.read(Self.body(["interval": value])).interval == .seconds(seconds))
    }

    @Test(
        "a device reply has the required fields, of the right type",
        arguments: [
            ("device_code", "", "device_code is missing"), ("device_code", #""""#, "device_code is empty"),
            ("device_code", "{}", "device_code is no text"), ("user_code", "null", "user_code is missing"),
            ("verification_uri", "", "verification_uri is missing"),
            ("verification_uri", "[]", "verification_uri is no text"),
            ("verification_uri", #""""#, "verification_uri is no https URL"),
            ("verification_uri", #""id.test/go""#, "verification_uri is no https URL"),
            ("verification_uri", #""http://id.test/go""#, "verification_uri is no https URL"),
            ("verification_uri", #""javascript:alert(1)""#, "verification_uri is no https URL"),
            ("expires_in", "", "expires_in is no number of seconds"),
            ("expires_in", "0", "expires_in is no number of seconds"),
            ("expires_in", "-600", "expires_in is no number of seconds"),
            ("expires_in", #""never""#, "expires_in is no number of seconds"),
        ]
    )
    func malformed(name: String, value: String, reason: String) {
        #expect(throws: MalformedReply(reason)) { try Self.read(Self.body([name: value])) }
    }

    @Test("the name that the drafts had for the URL is understood")
    func draft() throws {
        let body = Self.body(["verification_uri": "", "verification_url": #""https://id.test/draft""#])
        #expect(try Self.read(body).verificationUri.absoluteString == "https://id.test/draft")
    }

    @Test("a complete URL that cannot be shown is left out: the user has the other one")
    func complete() throws {
        for (value, url) in [
            (#""https://id.test/go?c=u""#, "https://id.test/go?c=u"), (#""http://id.test/go?c=u""#, nil),
            (#""nonsense""#, nil), ("null", nil),
        ] {
            let reply = try Self.read(Self.body(["verification_uri_complete": value]))
            #expect(reply.verificationUriComplete?.absoluteString == url)
        }
    }

    @Test("mutated replies are read or refused, and none traps")
    func fuzz() async throws {
        var inputs = InputFuzzer(
            seed: 4,
            [
                String(decoding: Self.body(["interval": "5"]), as: UTF8.self),
                String(
                    decoding: Self.body(["expires_in": #""60""#, "verification_uri_complete": "null"]),
                    as: UTF8.self
                ),
            ]
        )
        var readCount = 0
        let count = trials(20_000)
        for _ in 1...count {
            guard let reply = try? await Self.read(Data(inputs.next())) else { continue }
            readCount += 1
            try #require(reply.expiresIn >= .seconds(1) && reply.interval >= .seconds(1))
        }
        #expect((count / 100..<count / 10 * 9).contains(readCount))
    }
}
