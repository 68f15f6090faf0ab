import Foundation
import Nautilus

/// A store that is read without a wait, so that there is nothing to limit, and a call knows who was signed in when it
/// began.
protocol PromptStore: CredentialStore {
    /// The version, at once.
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion?

    /// The record, at once. It is read on the caller's thread, when the version has changed: rarely, and from memory or the
    /// system's cache of files.
    func promptLoad(_ key: CredentialKey) throws -> StoredCredential?
}

extension MemoryStore: PromptStore {
    func promptVersion(of key: CredentialKey) -> CredentialVersion? { version(of: key) }

    func promptLoad(_ key: CredentialKey) -> StoredCredential? { load(key) }
}

extension FileStore: PromptStore {
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion? { try version(of: key) }
}

extension EncryptedStore: PromptStore where Base: PromptStore {
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion? { try base.promptVersion(of: key) }

    func promptLoad(_ key: CredentialKey) throws -> StoredCredential? {
        try base.promptLoad(key).map { try opened($0, key) }
    }
}
