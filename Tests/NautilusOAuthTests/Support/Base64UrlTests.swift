import Testing

@testable import NautilusOAuth

@Suite("base64url")
struct Base64UrlTests {
    @Test(
        "bytes are written with the URL's alphabet and without padding (RFC 4648 §5, §10)",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func vectors(text: String, encoded: String) {
        #expect(String(base64Url: Array(text.utf8)) == encoded)
    }

    @Test("base64url has no character with a meaning in URLs")
    func alphabet() {
        #expect(String(base64Url: [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]) == "----____")
    }

    @Test("the vector of RFC 7636, appendix B, is met")
    func challenge() {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = String(base64Url: octets)
        #expect(verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(Pkce.challenge(of: verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }
}
