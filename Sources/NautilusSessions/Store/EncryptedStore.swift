import Foundation
import Nautilus

/// A store that keeps credentials encrypted in another store.
///
/// ```swift
/// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
/// ```
/// The credential is encrypted together with its key and its session, so no record can take the place of another. The
/// session's number and the count of lost answers are not secret, and not encrypted. An earlier record of the same key,
/// put back by somebody, cannot be told from the latest. The server can tell, if a sign-out revokes the credential.
///
/// A record from before encryption is read only on request, since otherwise anyone who can write the file could put
/// anything there. A record of another cipher key is an error,
/// ``CredentialStoreError/sealedOtherwise(issuer:session:)``, never "nobody is signed in". It stays until somebody
/// signs in or out.
public struct EncryptedStore<Base: CredentialStore>: CredentialStore {
    let base: Base
    private let cipher: any CredentialCipher
    private let readsPlain: Bool

    /// Keeps credentials in `base`, encrypted by `cipher`.
    ///
    /// - Parameters:
    ///   - base: The store that keeps them.
    ///   - cipher: The cipher that encrypts them.
    ///   - readsPlain: Whether records that `base` keeps unencrypted are read, too; the next refresh encrypts them.
    ///     Default: false. Pass true in an app whose earlier version did not encrypt, until its users have updated.
    public init(_ base: Base, cipher: any CredentialCipher, readingPlain readsPlain: Bool = false) {
        self.base = base
        self.cipher = cipher
        self.readsPlain = readsPlain
    }

    /// Whether the base's reads do.
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
        // An expired record holds no credential, so there is nothing to hide.
        guard !stored.hasExpired else { return try await base.save(stored, for: key) }
        let sealed = try cipher.seal(stored.content, context: Self.context(of: stored, key))
        try await base.save(stored.replacingContent(sealed), for: key)
    }

    /// Ends a session in the base.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be decrypted.
    /// - Throws: The base's errors.
    @discardableResult
    public func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await base.end(session, for: key).flatMap { try? opened($0, key) }
    }

    /// Whether the session has been ended in the base.
    ///
    /// - Throws: The base's errors.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool {
        try await base.isEnded(session, for: key)
    }

    /// Removes the stored record, whatever it was encrypted with.
    ///
    /// - Throws: The base's errors.
    public func delete(_ key: CredentialKey) async throws { try await base.delete(key) }

    /// The base's version; asking for it decrypts nothing.
    ///
    /// - Throws: The base's errors.
    public func version(of key: CredentialKey) async throws -> CredentialVersion? { try await base.version(of: key) }

    /// The base's lock.
    ///
    /// - Throws: The base's errors.
    public func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { try await base.lock(key) }

    /// - Throws: ``CredentialStoreError/sealedOtherwise(issuer:session:)`` for a record that was sealed with another
    ///   key, for another credential, or not at all.
    func opened(_ stored: StoredCredential, _ key: CredentialKey) throws(CredentialStoreError) -> StoredCredential {
        guard !stored.hasExpired else { return stored }
        if let content = try? cipher.open(stored.content, context: Self.context(of: stored, key)) {
            return stored.replacingContent(content)
        }
        // Encrypted bytes are not JSON.
        let isPlain = (try? JSONSerialization.jsonObject(with: stored.content, options: .fragmentsAllowed)) != nil
        guard readsPlain, isPlain else { throw .sealedOtherwise(issuer: key.issuer, session: stored.session) }
        return stored
    }

    /// The key and the session of a credential as bytes. Different ones give different bytes, since each part is
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
    /// The kind of store underneath; nothing of the cipher, which has the key.
    public var description: String { "EncryptedStore(\(Base.self))" }
}

extension StoredCredential {
    fileprivate func replacingContent(_ content: Data) -> StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            refreshCount: refreshCount,
            content: content,
            unanswered: unanswered,
            hasExpired: hasExpired,
            cameExpired: cameExpired
        )
    }
}

/// Encrypts what a store keeps, with authentication, as AES-GCM does, and a key that only the app or its user has. With
/// CryptoKit, use `AesGcmCipher`. Elsewhere, write one over a library that you trust:
/// ```swift
/// struct AesGcm: CredentialCipher {  // import Crypto, of swift-crypto
///     let key: SymmetricKey
///     func seal(_ bytes: Data, context: Data) throws -> Data {
///         let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
///         guard let sealed = box.combined else { throw NoNonce() }
///         return sealed
///     }
///     func open(_ sealed: Data, context: Data) throws -> Data {
///         try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
///     }
/// }
/// ```
public protocol CredentialCipher: Sendable {
    /// Encrypts bytes, each time with another nonce.
    ///
    /// - Parameters:
    ///   - bytes: The secret.
    ///   - context: The owner of the secret. It is authenticated with the secret, and not stored.
    /// - Throws: Any error; nothing is stored then.
    func seal(_ bytes: Data, context: Data) throws -> Data

    /// Reads what ``seal(_:context:)`` made.
    ///
    /// - Throws: Any error, when the bytes were sealed with another key or for another context, or have been changed.
    func open(_ sealed: Data, context: Data) throws -> Data
}
