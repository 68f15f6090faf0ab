import Foundation
import Nautilus

/// A store that can be read without waiting, so that reads need no time limit, and a call knows who was signed in when
/// it began.
protocol PromptStore: CredentialStore {
    /// The version, without waiting.
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion?

    /// The record, without waiting. It is read on the caller's thread when the version has changed: rarely, and from
    /// memory or the system's file cache.
    func promptLoad(_ key: CredentialKey) throws -> StoredCredential?

    /// The record to sign out from, without waiting: also one that may not be used, since others may enter its folder,
    /// or cannot be decrypted; then its content is the encrypted one. Default: that of ``promptLoad(_:)``.
    func promptLoadToEnd(_ key: CredentialKey) throws -> StoredCredential?

    /// Whether the end of a session is noted, without waiting. Default: false.
    func promptIsEnded(_ session: UUID, for key: CredentialKey) throws -> Bool

    /// Notes that a session has ended, without waiting for a disk: the note outlives the process, though perhaps not a
    /// power failure. Default: does nothing, for a store that does not outlive the process either.
    func promptEnd(_ session: UUID, for key: CredentialKey) throws
}

extension PromptStore {
    func promptLoadToEnd(_ key: CredentialKey) throws -> StoredCredential? { try promptLoad(key) }

    func promptIsEnded(_ session: UUID, for key: CredentialKey) -> Bool { false }

    func promptEnd(_ session: UUID, for key: CredentialKey) {}
}

extension MemoryStore: PromptStore {
    func promptVersion(of key: CredentialKey) -> CredentialVersion? { version(of: key) }

    func promptLoad(_ key: CredentialKey) -> StoredCredential? { load(key) }
}

extension FileStore: PromptStore {
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion? { try version(of: key) }

    func promptLoad(_ key: CredentialKey) throws -> StoredCredential? { try promptLoad(key, requiringPrivacy: true) }

    func promptIsEnded(_ session: UUID, for key: CredentialKey) throws -> Bool { try file(of: key).isEnded(session) }

    func promptLoadToEnd(_ key: CredentialKey) throws -> StoredCredential? {
        try promptLoad(key, requiringPrivacy: false)
    }
}

extension EncryptedStore: PromptStore where Base: PromptStore {
    func promptVersion(of key: CredentialKey) throws -> CredentialVersion? { try base.promptVersion(of: key) }

    func promptLoad(_ key: CredentialKey) throws -> StoredCredential? {
        try base.promptLoad(key).map { try opened($0, key) }
    }

    func promptLoadToEnd(_ key: CredentialKey) throws -> StoredCredential? {
        try base.promptLoadToEnd(key).map { (try? opened($0, key)) ?? $0 }
    }

    func promptIsEnded(_ session: UUID, for key: CredentialKey) throws -> Bool {
        try base.promptIsEnded(session, for: key)
    }

    func promptEnd(_ session: UUID, for key: CredentialKey) throws { try base.promptEnd(session, for: key) }
}
