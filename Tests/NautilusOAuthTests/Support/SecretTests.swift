import Nautilus
import Testing

@testable import NautilusOAuth

@Suite("Secret")
struct SecretTests {
    @Test("a secret matches itself, and nothing that is longer, shorter or another")
    func matches() {
        let secret = Secret("abc")
        #expect(secret.matches("abc"))
        for other in ["", "ab", "abcd", "abd", "ABC", "abc\0"] { #expect(!secret.matches(other)) }
        #expect(!Secret("é").matches("e\u{301}"))
    }

    @Test("a secret has 32 bytes of randomness, in 43 characters that go into a URL as they are")
    func bytes() {
        let draws = Locked<[UInt64]>([0, .max, 0x0809_0A0B_0C0D_0E0F, 0x0001_0203_0405_0607])
        let secret = Randomness { draws.withLock { $0.removeLast() } }.secret()
        #expect(secret.text == "AAECAwQFBgcICQoLDA0OD___________AAAAAAAAAAA")
        #expect(draws.withLock { $0.isEmpty })
    }

    @Test("each secret that the system draws is different")
    func system() {
        let secrets = (0..<100).map { _ in Randomness.system.secret().text }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.utf8.count == 43 })
    }
}
