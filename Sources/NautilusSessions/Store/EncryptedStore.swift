import Foundation
import Nautilus

/// A store that keeps credentials encrypted in another store.
/// ```swift
/// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
/// ```
/// The cipher encrypts the credential, and authenticates its ``CredentialKey`` and its session, so that no record can
/// take the place of another. The other values of a record are not encrypted. The store does not notice if somebody
/// puts back an earlier record of the same key. If a sign-out has revoked that record's credential, the server rejects
/// it.
///
/// A record that was encrypted with another key causes ``CredentialStoreError/sealedOtherwise(issuer:session:)``. It
/// never counts as "nobody is signed in", and stays until somebody signs in or out.
public struct EncryptedStore<Base: CredentialStore>: CredentialStore {
    let base: Base
    private let cipher: any CredentialCipher
    private let readsPlain: Bool

    /// Keeps credentials in `base`, encrypted by `cipher`.
    ///
    /// - Parameters:
    ///   - base: The store that keeps them.
    ///   - cipher: The cipher that encrypts them.
    ///   - readsPlain: Whether unencrypted records are read, too; the next refresh encrypts them. Default: false, since
    ///     anyone who can write the file could put a credential there. Pass true if an earlier version of the app did
    ///     not encrypt, until its users have updated.
    public init(_ base: Base, cipher: any CredentialCipher, readingPlain readsPlain: Bool = false) {
        self.base = base
        self.cipher = cipher
        self.readsPlain = readsPlain
    }

    /// Whether every read of the base shows what was stored last.
    public var showsLatest: Bool { base.showsLatest }

    /// Loads the stored record, decrypted; nil when there is none.
    ///
    /// - Throws: ``CredentialStoreError/sealedOtherwise(issuer:session:)``; the base's errors.
    public func load(_ key: CredentialKey) async throws -> StoredCredential? {
        try await base.load(key).map { try opened($0, key) }
    }

    /// Encrypts the record, and replaces the stored one.
    ///
    /// - Throws: The errors of the cipher and of the base.
    public func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        // An expired record has no credential, so there is nothing to encrypt.
        guard !stored.hasExpired else { return try await base.save(stored, for: key) }
        var sealed = stored
        sealed.content = try cipher.seal(stored.content, context: Self.context(of: stored, key))
        try await base.save(sealed, for: key)
    }

    /// Ends a session in the base store.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be decrypted.
    /// - Throws: The base's errors.
    @discardableResult
    public func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await base.end(session, for: key).flatMap { try? opened($0, key) }
    }

    /// Whether the session has been ended in the base store.
    ///
    /// - Throws: The base's errors.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool {
        try await base.isEnded(session, for: key)
    }

    /// Removes the stored record, whatever it was encrypted with.
    ///
    /// - Throws: The base's errors.
    public func delete(_ key: CredentialKey) async throws { try await base.delete(key) }

    /// The record's version in the base store. Reading it decrypts nothing.
    ///
    /// - Throws: The base's errors.
    public func version(of key: CredentialKey) async throws -> CredentialVersion? { try await base.version(of: key) }

    /// The base's lock.
    ///
    /// - Throws: The base's errors.
    public func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { try await base.lock(key) }

    /// Decrypts a record.
    ///
    /// - Throws: ``CredentialStoreError/sealedOtherwise(issuer:session:)`` for a record that was sealed with another
    ///   key, for another credential, or not at all.
    func opened(_ stored: StoredCredential, _ key: CredentialKey) throws(CredentialStoreError) -> StoredCredential {
        guard !stored.hasExpired else { return stored }
        if let content = try? cipher.open(stored.content, context: Self.context(of: stored, key)) {
            var opened = stored
            opened.content = content
            return opened
        }
        // Encrypted bytes are not JSON.
        let isPlain = (try? JSONSerialization.jsonObject(with: stored.content, options: .fragmentsAllowed)) != nil
        guard readsPlain, isPlain else { throw .sealedOtherwise(issuer: key.issuer, session: stored.session) }
        return stored
    }

    /// The key and the session of a credential as bytes. No two different pairs give the same bytes, since each part is
    /// preceded by its length.
    private static func context(of stored: StoredCredential, _ key: CredentialKey) -> Data {
        let parts = [key.issuer, key.client, key.account, stored.session.uuidString]
        // Equal texts have equal bytes only in composed form.
        return Data(
            parts.map(\.precomposedStringWithCanonicalMapping).map { "\($0.utf8.count):\($0)" }.joined().utf8
        )
    }
}

extension EncryptedStore: Redacted {
    /// The type of the base store, but nothing of the cipher, which has the key.
    public var description: String { "EncryptedStore(\(Base.self))" }
}

/// Encrypts what a store keeps, with authentication, as AES-GCM does, and with a key that only the app or its user has.
///
/// With CryptoKit, use `AesGcmCipher`. Elsewhere, copy the cipher of `Examples/SealedStore`, which uses swift-crypto,
/// or write one with a library that you trust.
public protocol CredentialCipher: Sendable {
    /// Encrypts bytes, with a new nonce each time.
    ///
    /// - Parameters:
    ///   - bytes: The secret.
    ///   - context: The owner of the secret. It is authenticated with the secret, and not stored.
    /// - Throws: Any error. The store then stores nothing.
    func seal(_ bytes: Data, context: Data) throws -> Data

    /// Reads what ``seal(_:context:)`` made.
    ///
    /// - Throws: Any error, when the bytes were sealed with another key or for another context, or have been changed.
    func open(_ sealed: Data, context: Data) throws -> Data
}
