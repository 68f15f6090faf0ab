import Foundation
import NautilusSessions
import SecurityStandIn
import Testing

@Suite("KeychainStore")
struct KeychainStoreTests {
    private let keychain = KeychainStandIn.shared
    private let folder: TestFolder
    private let store: KeychainStore
    private let key = CredentialKey(issuer: "https://as.example/\(UUID())", client: "notes", account: "anna")

    init() throws {
        folder = try TestFolder()
        store = KeychainStore(lockFolder: folder.store)
    }

    @Test("an item is named after issuer, client and account, and readable from the first unlock, on this device only")
    func attributes() async throws {
        try await store.save(.first, for: key)
        let item = try #require(keychain.item(service: key.service, account: "anna", group: "notes"))
        #expect(item.accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        #expect(try CredentialFormat.decode(item.data, for: key, place: "p") == .first)
    }

    @Test("a save changes the item that is there, wherever it lies, and adds no second one")
    func update() async throws {
        let shared = KeychainStore(lockFolder: folder.store, accessGroup: "group.notes")
        try await shared.save(.first, for: key)
        try await store.save(.second, for: key)
        #expect(keychain.item(service: key.service, account: "anna", group: "notes") == nil)
        #expect(try await shared.load(key) == .second)
    }

    @Test("an access group sees its own items only")
    func groups() async throws {
        try await store.save(.first, for: key)
        let shared = KeychainStore(lockFolder: folder.store, accessGroup: "group.notes")
        #expect(try await shared.load(key) == nil)
        #expect(try await shared.version(of: key) == nil)
        try await shared.save(.second, for: key)
        try await shared.delete(key)
        #expect(try await store.load(key) == .first)
    }

    @Test("an access group that the app is not entitled to is not permitted")
    func entitlement() async throws {
        let store = KeychainStore(lockFolder: folder.store, accessGroup: "another.app")
        let error = CredentialStoreError.notPermitted(place: key.service)
        await #expect(throws: error) { try await store.load(key) }
        await #expect(throws: error) { try await store.save(.first, for: key) }
        await #expect(throws: error) { try await store.delete(key) }
        await #expect(throws: error) { try await store.version(of: key) }
    }

    @Test("the keychain refuses everything before the first unlock, and has everything afterwards")
    func deviceIsLocked() async throws {
        try await store.save(.first, for: key)
        keychain.refuse(key.service, with: errSecInteractionNotAllowed)
        let error = CredentialStoreError.notPermitted(place: key.service)
        await #expect(throws: error) { try await store.load(key) }
        await #expect(throws: error) { try await store.save(.second, for: key) }
        await #expect(throws: error) { try await store.delete(key) }
        await #expect(throws: error) { try await store.version(of: key) }
        keychain.refuse(key.service, with: nil)
        #expect(try await store.load(key) == .first)
    }

    /// The keychain's statuses, and their meanings.
    static let statuses: [(OSStatus, @Sendable (_ operation: String, _ place: String) -> CredentialStoreError)] = [
        (errSecDiskFull, { .full(place: $1) }),
        (errSecAuthFailed, { .notPermitted(place: $1) }),
        (errSecNotAvailable, { .notPermitted(place: $1) }),
        (errSecMissingEntitlement, { .notPermitted(place: $1) }),
        (errSecDecode, { .damaged(place: $1) }),
        (errSecParam, { .system(operation: $0, place: $1, code: -50) }),
        (errSecInternalError, { .system(operation: $0, place: $1, code: -26_276) }),
    ]

    @Test("each refusal of the keychain has its meaning, in every operation", arguments: statuses.indices)
    func refusals(_ index: Int) async throws {
        let (status, error) = Self.statuses[index]
        keychain.refuse(key.service, with: status, only: .find)
        await #expect(throws: error("load", key.service)) { try await store.load(key) }
        await #expect(throws: error("version", key.service)) { try await store.version(of: key) }
        keychain.refuse(key.service, with: status, only: .add)
        await #expect(throws: error("save", key.service)) { try await store.save(.first, for: key) }
        keychain.refuse(key.service, with: nil)
        try await store.save(.first, for: key)
        keychain.refuse(key.service, with: status, only: .update)
        await #expect(throws: error("save", key.service)) { try await store.save(.second, for: key) }
        keychain.refuse(key.service, with: status, only: .delete)
        await #expect(throws: error("delete", key.service)) { try await store.delete(key) }
        keychain.refuse(key.service, with: nil)
        #expect(try await store.load(key) == .first)
    }

    @Test("an item that another process adds in between is a failure, not a second item")
    func duplicate() async throws {
        try await store.save(.first, for: key)
        // The result of an update if the other process is a moment later.
        keychain.refuse(key.service, with: errSecItemNotFound, only: .update)
        let error = CredentialStoreError.system(operation: "save", place: key.service, code: Int(errSecDuplicateItem))
        await #expect(throws: error) { try await store.save(.second, for: key) }
        #expect(try await store.load(key) == .first)
    }

    @Test("an item that the keychain cannot decrypt is damaged, and replaced")
    func undecryptable() async throws {
        try await store.save(.first, for: key)
        keychain.refuse(key.service, with: errSecDecode, only: .find)
        await #expect(throws: CredentialStoreError.damaged(place: key.service)) { try await store.load(key) }
        try await store.save(.second, for: key)
        keychain.refuse(key.service, with: nil)
        #expect(try await store.load(key) == .second)
    }

    @Test("a version is asked without decrypting, and changes with what another app writes")
    func version() async throws {
        try await store.save(.first, for: key)
        let reads = keychain.reads(of: key.service)
        let version = try #require(try await store.version(of: key))
        #expect(keychain.reads(of: key.service) == reads)
        keychain.plant(Data(), service: key.service, account: key.account)
        #expect(try await store.version(of: key) != version)
    }

    @Test("the lock is a file in the folder, which an extension shares with its app")
    func lock() throws {
        let lock = try #require(try store.lock(key))
        #expect(try folder.names().map { String($0.suffix(5)) } == [".lock"])
        #expect(try LockFolder(folder.store).lock(key) == nil)
        #expect(try KeychainStore(lockFolder: folder.store, accessGroup: "group.notes").lock(key) == nil)
        lock.unlock()
        #expect(try LockFolder(folder.store).lock(key) != nil)
    }
}
