import Foundation
import NautilusSessions
import Testing

@Suite("Stores: redaction")
struct StoreRedactionTests {
    private static let secret = "s3cr3t"
    private static let stored = StoredCredential(
        session: StoredText.stored.session,
        content: Data(secret.utf8),
        unanswered: 1
    )

    /// Every way in which a value becomes text.
    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        dump([value], to: &dumped)
        let inArray = "\([value])"
        return [dumped, inArray, "\(value)", String(describing: value), String(reflecting: value)]
    }

    private static func expectNoSecret(in value: some Any, butIn every: String) {
        for text in texts(of: value) {
            #expect(!text.contains(secret), "\(type(of: value))")
            #expect(text.contains(every))
        }
    }

    @Test("a stored credential never prints a token, however it is printed")
    func stored() {
        Self.expectNoSecret(in: Self.stored, butIn: "unanswered 1")
        Self.expectNoSecret(in: Self.stored, butIn: "6 bytes")
        Self.expectNoSecret(in: [StoredText.key: Self.stored], butIn: "unanswered 1")
        Self.expectNoSecret(in: Optional(Self.stored) as Any, butIn: "unanswered 1")
    }

    @Test("a store that holds tokens prints none, nor whose they are", arguments: StoreSubject.all)
    func stores(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let store = place.store()
        try await store.save(Self.stored, for: place.key)
        let lock = try await #require(store.lock(place.key))
        Self.expectNoSecret(in: store, butIn: "Store")
        #expect(Self.texts(of: store).allSatisfy { !$0.contains(place.key.account) })
        Self.expectNoSecret(in: lock, butIn: "Lock")
        Self.expectNoSecret(in: try await #require(store.version(of: place.key)), butIn: "Version")
    }

    @Test("a key prints its issuer, and neither the account nor the client")
    func key() {
        let key = CredentialKey(issuer: "api.test", client: "s3cr3t-client", account: "s3cr3t-anna")
        Self.expectNoSecret(in: key, butIn: "api.test")
        Self.expectNoSecret(in: [key: 1], butIn: "api.test")
        Self.expectNoSecret(in: Optional(key) as Any, butIn: "api.test")
    }

    @Test("an error about what is stored prints none of it", arguments: StoreSubject.all.filter(\.keepsBytes))
    func errors(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let data = try CredentialFormat.encode(Self.stored, for: place.key, place: "p")
        for bytes in [data.dropLast(), Data(Self.secret.utf8)] {
            try await place.plant(bytes, place.key)
            let error = try await #require(throws: CredentialStoreError.self) {
                try await place.store().load(place.key)
            }
            Self.expectNoSecret(in: error, butIn: " ")
            #expect(!error.localizedDescription.contains(Self.secret))
        }
    }

    @Test("every error says where it is and what to do")
    func descriptions() {
        let expected: [(CredentialStoreError, String)] = [
            (.damaged(place: "a.json"), "sign in again"), (.foreign(place: "a.json"), "remove it"),
            (.newerFormat(place: "a.json", version: 2), "format 2; update"), (.notPrivate(place: "a.json"), "0700"),
            (.full(place: "a.json"), "no room"), (.notPermitted(place: "a.json"), "grant it"),
            (.system(operation: "write", place: "a.json", code: Int(EFBIG)), "write on a.json: File too large (27)"),
            (.system(operation: "load", place: "a.json", code: -50), "load on a.json: status -50"),
        ]
        for (error, advice) in expected {
            #expect(error.description.contains("a.json"))
            #expect(error.description.contains(advice))
            #expect(error.localizedDescription == error.description)
        }
        #expect(CredentialStoreError.undecodable(type: "Token").description.contains("no Token; update"))
        #expect(CredentialStoreError.sealedOtherwise(issuer: "a.test").description.contains("a.test is encrypted"))
        #expect(CredentialStoreError.other(type: "SQLError").description.contains("SQLError"))
    }
}
