import Foundation
import KeychainOnLinux
import Testing

@Suite struct Smoke {
    @Test func a() async throws {
        let store = KeychainStore(
            lockFolder: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        )
        let key = CredentialKey(issuer: "a", client: "b")
        #expect(try await store.load(key) == nil)
        let s = StoredCredential(session: UUID(), credential: .init(accessToken: "a"))
        try await store.save(s, for: key)
        #expect(try await store.load(key) == s)
    }
}
