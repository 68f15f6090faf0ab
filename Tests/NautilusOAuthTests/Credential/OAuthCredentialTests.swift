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
