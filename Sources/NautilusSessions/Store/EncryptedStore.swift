import Foundation

/// A store that keeps credentials encrypted in another one.
///
/// ```swift
/// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
/// ```
/// The credential is encrypted, together with whose it is and which session it belongs to, so that nobody can put one record
/// in the place of another. The session's number and the count of lost answers are not secret, and are not encrypted.
///
/// What was stored before there was encryption is read only if that is asked for, since whoever can write the file could
/// otherwise put anything there. What was encrypted with another key is an error,
/// ``CredentialStoreError/sealedOtherwise(issuer:)``, never "nobody is signed in": it stays until somebody signs in or out.
public struct EncryptedStore<Base: CredentialStore>: CredentialStore {
    private let base: Base
    private let cipher: any CredentialCipher
    private let readsPlain: Bool

    /// Keeps credentials in `base`, encrypted by `cipher`.
    ///
    /// - Parameters:
    ///   - base: Where they are kept.
    ///   - cipher: What encrypts them.
    ///   - readsPlain: Whether what `base` keeps unencrypted is read, too; the next renewal encrypts it. Default: false. True
    ///     for an app whose earlier version has not encrypted, until its users have come over.
    public init(_ base: Base, cipher: any CredentialCipher, readingPlain readsPlain: Bool = false) {
        self.base = base
        self.cipher = cipher
        self.readsPlain = readsPlain
    }

    /// What is stored, decrypted; nil when nothing is.
    ///
    /// - Throws: ``CredentialStoreError/sealedOtherwise(issuer:)``; what the base throws.
    public func load(_ key: CredentialKey) async throws -> StoredCredential? {
        guard let stored = try await base.load(key) else { return nil }
        guard let opened = opened(stored, key) else { throw CredentialStoreError.sealedOtherwise(issuer: key.issuer) }
        return opened
    }

    /// Encrypts, and replaces what is stored.
    ///
    /// - Throws: What the cipher and the base throw.
    public func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        // There is no credential in it, so there is nothing to hide.
        guard !stored.hasExpired else { return try await base.save(stored, for: key) }
        let sealed = try cipher.seal(stored.content, context: Self.context(of: stored, key))
        try await base.save(stored.replacingContent(sealed), for: key)
    }

    /// Ends a session in the base.
    ///
    /// - Returns: What was stored of the session; nil when nothing was, or it cannot be decrypted.
    /// - Throws: What the base throws.
    @discardableResult
    public func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await base.end(session, for: key).flatMap { opened($0, key) }
    }

    /// Removes what is stored, whatever it was encrypted with.
    ///
    /// - Throws: What the base throws.
    public func delete(_ key: CredentialKey) async throws { try await base.delete(key) }

    /// The base's version; nothing is decrypted for it.
    ///
    /// - Throws: What the base throws.
    public func version(of key: CredentialKey) async throws -> CredentialVersion? { try await base.version(of: key) }

    /// The base's lock.
    ///
    /// - Throws: What the base throws.
    public func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { try await base.lock(key) }

    /// Nil for what was sealed with another key, for another credential, or not at all.
    private func opened(_ stored: StoredCredential, _ key: CredentialKey) -> StoredCredential? {
        guard !stored.hasExpired else { return stored }
        if let content = try? cipher.open(stored.content, context: Self.context(of: stored, key)) {
            return stored.replacingContent(content)
        }
        // What is encrypted is no JSON.
        let isPlain = (try? JSONSerialization.jsonObject(with: stored.content, options: .fragmentsAllowed)) != nil
        return readsPlain && isPlain ? stored : nil
    }

    /// Whose credential it is, and of which session: different for different ones, since each part says its length.
    private static func context(of stored: StoredCredential, _ key: CredentialKey) -> Data {
        let parts = [key.issuer, key.client, key.account, stored.session.uuidString]
        // Equal texts are equal bytes only once they are composed.
        return Data(
            parts.map(\.precomposedStringWithCanonicalMapping).map { "\($0.utf8.count):\($0)" }.joined().utf8
        )
    }
}

extension EncryptedStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of store underneath; nothing of the cipher, which has the key.
    public var description: String { "EncryptedStore(\(Base.self))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["store": description]) }
}

extension StoredCredential {
    fileprivate func replacingContent(_ content: Data) -> StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            content: content,
            unanswered: unanswered,
            hasExpired: hasExpired
        )
    }
}
