import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("SHA-1")
struct Sha1Tests {
    @Test(
        "SHA-1 has the digests of FIPS 180-4 and RFC 3174 §7.3, over every kind of padding",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
            (
                String(repeating: "0123456701234567012345670123456701234567012345670123456701234567", count: 10),
                "dea356a2cddd90c7a7ecedc5ebb563934f460452"
            ),
        ]
    )
    func digests(text: String, digest: String) {
        #expect(Sha1.hash(text.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == digest)
    }
}
