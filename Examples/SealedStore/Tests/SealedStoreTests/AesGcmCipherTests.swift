import Crypto
import Foundation
import NautilusSessions
import SealedStore
import Testing

@Suite("A store that is encrypted by swift-crypto")
struct AesGcmCipherTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealed-\(UUID())")
    private let key = CredentialKey(issuer: "https://api.example")
    private let stored = StoredCredential(session: UUID(), content: Data(#"{"value":"s3cret"}"#.utf8))

    @Test("an AES-GCM cipher keeps nothing in plain text, and decrypts with the same key only")
    func files() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (own, other) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: own))
        try await store.save(stored, for: key)
        #expect(try await store.load(key) == stored)
        let kept = try #require(try await FileStore(folder: folder).load(key))
        #expect(kept.content.range(of: Data("s3cret".utf8)) == nil)
        await #expect(throws: CredentialStoreError.sealedOtherwise(issuer: key.issuer, session: stored.session)) {
            try await EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: other)).load(key)
        }
    }

    @Test("an AES-GCM cipher notices every changed bit, and another context")
    func changed() throws {
        let cipher = AesGcmCipher(key: SymmetricKey(size: .bits256))
        let sealed = try cipher.seal(stored.content, context: Data("anna".utf8))
        #expect(try cipher.seal(stored.content, context: Data("anna".utf8)) != sealed)
        #expect(try cipher.open(sealed, context: Data("anna".utf8)) == stored.content)
        #expect(throws: (any Error).self) { try cipher.open(sealed, context: Data("bert".utf8)) }
        for bit in 0..<sealed.count * 8 {
            var bytes = sealed
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: (any Error).self) { try cipher.open(bytes, context: Data("anna".utf8)) }
        }
        #expect(throws: (any Error).self) { try cipher.open(Data(), context: Data("anna".utf8)) }
    }
}
