import Foundation

/// A store in which credentials outlive a process and processes meet: each key has one record and one lock.
///
/// A store decides nothing. When to refresh, when to wait and what to adopt is up to ``Session``, which saves and
/// deletes only while it holds the key's lock, and loads at any time. So a store has to see to four things: a load
/// never shows half a save, nor a session that has been ended, a lock has one holder among all processes that share the
/// store, and a holder that dies loses it.
///
/// ``MemoryStore`` is for tests and for credentials that need not be kept, ``FileStore`` for files on one machine,
/// `KeychainStore` for Apple's platforms. A fleet of servers can write one over a database that they share, with
/// ``CredentialFormat`` for the bytes and, on one machine, ``LockFolder`` for the locks.
///
/// A store that may wait, for a disk or for a network, has to heed cancellation: a look at it comes before each attempt, and
/// a call that has run out of time cannot end before the look does.
///
/// A record that is foreign, or of a newer format, is left alone: neither saved over nor deleted. A damaged one is
/// replaced.
public protocol CredentialStore: Sendable {
    /// Loads the stored record; nil when there is none. A record that ``StoredCredential/hasExpired`` is no credential
    /// to use: it says that the server has ended the session.
    ///
    /// - Throws: ``CredentialStoreError`` for a record that is there and cannot be read: never nil in its place.
    func load(_ key: CredentialKey) async throws -> StoredCredential?

    /// Replaces the stored record, wholly or not at all, and returns once it would survive a power failure.
    ///
    /// - Throws: ``CredentialStoreError``; the record stored before is still there then.
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws

    /// Ends a session for every process that shares the store, without the key's lock, which may be held for long: no
    /// load shows a record of it any more, be it stored already or saved later by a process that does not know of the
    /// end, until ``delete(_:)``. Records of other sessions stay. The ``version(of:)`` is another one afterwards, if
    /// the session was stored.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
    /// - Throws: ``CredentialStoreError`` when the session may still be shown.
    @discardableResult
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential?

    /// Removes what is stored, of whichever session, and forgets which sessions have been ended; nothing when nothing
    /// is.
    ///
    /// - Throws: ``CredentialStoreError``.
    func delete(_ key: CredentialKey) async throws

    /// A mark that is another one after each save and delete, by whichever process. Asked before every attempt of every
    /// call, so it has to be cheap: no decryption, no network.
    ///
    /// - Returns: Nil when nothing is stored.
    /// - Throws: ``CredentialStoreError``.
    func version(of key: CredentialKey) async throws -> CredentialVersion?

    /// Takes the key's lock if it is free, and does not wait.
    ///
    /// - Returns: The lock; nil while another holds it, in this process or in another.
    /// - Throws: ``CredentialStoreError``.
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)?
}

/// Exclusive access to one key of a ``CredentialStore``. It ends with ``unlock()``, with the value, or with the
/// process.
public protocol CredentialLock: AnyObject, Sendable {
    /// Gives the access back; nothing when that has happened before.
    func unlock()
}

/// A mark that changes whenever a stored credential does.
public struct CredentialVersion: Hashable, Sendable {
    private let mark: String

    /// Creates a version from whatever changes with each save: a number, a time, an inode.
    public init(_ mark: String) {
        self.mark = mark
    }
}
