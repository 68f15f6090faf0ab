import Foundation
import NautilusOAuth
import Testing

@Suite("OAuthCredential")
struct OAuthCredentialTests {
    private static let received = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(
        "what is left of a lifetime counts from receipt, is never negative, and never more than the whole",
        arguments: [
            (0, .seconds(3600)), (1, .seconds(3599)), (3599, .seconds(1)), (3600, .zero), (3601, .zero),
            (-1, .seconds(3600)), (-1e300, .seconds(3600)), (1e300, .zero), (.infinity, .zero),
        ] as [(TimeInterval, Duration)]
    )
    func remaining(later: TimeInterval, left: Duration) {
        let credential = OAuthCredential(accessToken: "a", lifetime: .seconds(3600), receivedAt: Self.received)
        #expect(credential.remainingLifetime(at: Self.received.addingTimeInterval(later)) == left)
    }

    @Test("without a lifetime there is no expiry; a negative one is over at once")
    func lifetimes() {
        #expect(OAuthCredential(accessToken: "a").remainingLifetime(at: .distantFuture) == nil)
        let over = OAuthCredential(accessToken: "a", lifetime: .seconds(-5), receivedAt: Self.received)
        #expect(over.lifetime == .zero)
        #expect(over.remainingLifetime(at: Self.received) == .zero)
    }

    @Test("a credential that is encoded and decoded is the same")
    func coding() throws {
        let credential = OAuthCredential(
            accessToken: "a",
            refreshToken: "r",
            scope: ["x", "y"],
            lifetime: .milliseconds(1500),
            receivedAt: Self.received
        )
        let data = try JSONEncoder().encode(credential)
        #expect(try JSONDecoder().decode(OAuthCredential.self, from: data) == credential)
    }

    static let credentials: [OAuthCredential] = [
        OAuthCredential(accessToken: ""),
        OAuthCredential(accessToken: "\"\\/\u{0}\n\u{7f}é😀\u{2028}", refreshToken: "", tokenType: "bearer"),
        OAuthCredential(accessToken: "a", scope: []),
        OAuthCredential(accessToken: "a", scope: OAuthScope(["with blank", "b"])),
        OAuthCredential(accessToken: "a", lifetime: .zero),
        OAuthCredential(accessToken: "a", lifetime: Duration(secondsComponent: 1, attosecondsComponent: 1)),
        OAuthCredential(accessToken: "a", lifetime: .seconds(315_576_000_000)),
        OAuthCredential(accessToken: "a", lifetime: .seconds(Int64.max) * 15),
        OAuthCredential(accessToken: "a", receivedAt: .distantPast),
        OAuthCredential(accessToken: "a", receivedAt: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)),
        OAuthCredential(accessToken: String(repeating: "a", count: 100_000)),
    ]

    @Test("a stored credential comes back equal, to the attosecond", arguments: credentials)
    func storing(_ credential: OAuthCredential) throws {
        let stored = try StoredCredential(session: UUID(), credential: credential)
        #expect(try stored.credential(as: OAuthCredential.self) == credential)
    }

    private static let literal = #"""
        {"accessToken":"access","lifetime":{"attoseconds":500000000000000000,"seconds":3600},\#
        "receivedAt":816964039.25,"refreshToken":"refresh","scope":["notes.read","notes.write"],"tokenType":"Bearer"}
        """#

    @Test("the stored form of an OAuth credential stays the same, byte by byte")
    func literal() throws {
        let credential = OAuthCredential(
            accessToken: "access",
            refreshToken: "refresh",
            scope: ["notes.write", "notes.read"],
            lifetime: .milliseconds(3_600_500),
            receivedAt: Date(timeIntervalSinceReferenceDate: 816_964_039.25)
        )
        let stored = try StoredCredential(session: UUID(), credential: credential)
        #expect(String(decoding: stored.content, as: UTF8.self) == Self.literal)
        #expect(try JSONDecoder().decode(OAuthCredential.self, from: Data(Self.literal.utf8)) == credential)
    }

    @Test("a time that is no number cannot be written")
    func notFinite() {
        let credential = OAuthCredential(accessToken: "a", receivedAt: Date(timeIntervalSinceReferenceDate: .nan))
        #expect(throws: EncodingError.self) { try StoredCredential(session: UUID(), credential: credential) }
    }

    @Test(
        "numbers and texts that cannot be used are not read",
        arguments: [
            (#""seconds":3600"#, #""seconds":-1"#), (#""seconds":3600"#, #""seconds":315576000001"#),
            (#""attoseconds":500000000000000000"#, #""attoseconds":1000000000000000000"#),
            (#","tokenType":"Bearer""#, ""), ("816964039.25", "1e999"), (#""access""#, "null"),
            (#"["notes.read","notes.write"]"#, #""s""#),
        ]
    )
    func broken(part: String, replacement: String) {
        let text = Self.literal.replacingOccurrences(of: part, with: replacement)
        #expect(text != Self.literal)
        let stored = StoredCredential(session: UUID(), content: Data(text.utf8))
        #expect(throws: CredentialStoreError.undecodable(type: "OAuthCredential")) {
            try stored.credential(as: OAuthCredential.self)
        }
    }

    @Test("no token is printed")
    func redaction() {
        let credential = OAuthCredential(accessToken: "s3cret-a", refreshToken: "s3cret-r", scope: ["notes.read"])
        var dumped = ""
        dump(credential, to: &dumped)
        for text in ["\(credential)", credential.debugDescription, dumped] {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("OAuthCredential(Bearer, with refresh token, scope \"notes.read\")"))
        }
    }
}
