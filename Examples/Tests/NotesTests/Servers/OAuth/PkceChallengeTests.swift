import DemoServers
import Testing

@Suite("PkceChallenge and Sha256", .timeLimit(.minutes(10)))
struct PkceChallengeTests {
    /// Around the block's 64 bytes, and the 56 that leave room for the length.
    private static let digests = [
        0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        1: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
        56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
        63: "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
        64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
        65: "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0",
        119: "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb",
        120: "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c",
    ]

    @Test("a digest is SHA-256, at every boundary of the padding", arguments: digests)
    func digest(length: Int, digest: String) {
        let hash = Sha256.hash(Array(repeating: UInt8(ascii: "a"), count: length))
        #expect(hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
    }

    @Test("the challenge is that of the example in RFC 7636, appendix B")
    func example() {
        let challenge = PkceChallenge(verifier: OAuthBench.verifier)
        #expect(challenge.digest == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(PkceChallenge(challenge.digest)?.isMet(by: OAuthBench.verifier) == true)
        #expect(!challenge.isMet(by: OAuthBench.verifier.lowercased()))
    }

    @Test("a verifier has 43 to 128 characters", arguments: [(42, false), (43, true), (128, true), (129, false)])
    func verifierLength(length: Int, isVerifier: Bool) {
        let verifier = String(repeating: "a", count: length)
        #expect(PkceChallenge(verifier: verifier).isMet(by: verifier) == isVerifier)
    }

    @Test("a verifier has unreserved characters alone", arguments: [("-._~", true), ("+", false), ("é", false)])
    func verifierAlphabet(ending: String, isVerifier: Bool) {
        let verifier = String(repeating: "a", count: 50) + ending
        #expect(PkceChallenge(verifier: verifier).isMet(by: verifier) == isVerifier)
    }

    @Test(
        "a text that cannot be a digest is no challenge",
        arguments: ["", String(repeating: "a", count: 42), String(repeating: "a", count: 42) + "="]
    )
    func malformed(digest: String) {
        #expect(PkceChallenge(digest) == nil)
    }
}
