import Foundation
import Nautilus

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
/// A store that may wait, for a disk or for a network, should heed cancellation: a look at it comes before each
/// attempt. One that hangs is given up after ``CredentialSharing/lockWait``, ten seconds at least, as
/// ``SessionError/Kind/storeTimeout(_:)``; by a call that is cancelled or has run out of time at once. Calls after that
/// wait a second at most, and go by what is known, until it answers again. A save that was given up keeps the lock
/// until it ends. A renewal that a store has held up for half of its time limit fails before anything is sent: it might
/// be cancelled before its answer has come.
///
/// A load that is behind for a moment, as of a database with copies, takes nothing back from a process that knows better:
/// neither a renewed credential (``StoredCredential/renewals``) nor a user who has signed out there. A process that knows
/// nothing yet goes by what it is shown. Two things such a store sees to all the same: who holds the key's lock is shown
/// what was stored last, since that decides what is replaced and removed, and no read of a process is behind an earlier
/// one, a load above all not behind the version that was asked for before it.
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
    /// the session was stored, and at the same moment: a process that is killed in the middle must not leave an end of
    /// which the others hear nothing.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
    /// - Throws: ``CredentialStoreError`` when the session may still be shown.
    @discardableResult
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential?

    /// Whether a session has been ended by ``end(_:for:)`` since the last ``delete(_:)``. Asked where the record cannot be
    /// read, as one that a newer version of the app has put in the place of the ended session's. Default: false, nothing is
    /// known of it.
    ///
    /// - Throws: ``CredentialStoreError``.
    func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool

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

extension CredentialStore {
    /// False.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool { false }
}

/// Exclusive access to one key of a ``CredentialStore``. It ends with ``unlock()``, with the value, or with the
/// process.
public protocol CredentialLock: AnyObject, Sendable {
    /// Whether the access is still this lock's alone: false once it has been given back, and where the system or somebody
    /// else has taken it away. A ``Session`` asks right before each save and delete, and looks anew when it is not.
    /// Default: true, for locks that cannot be lost.
    var isHeld: Bool { get }

    /// Gives the access back; nothing when that has happened before.
    func unlock()
}

extension CredentialLock {
    /// True.
    public var isHeld: Bool { true }
}

/// A mark that changes whenever a stored credential does.
public struct CredentialVersion: Hashable, Sendable {
    private let mark: String

    /// Creates a version from whatever changes with each save: a number, a time, an inode.
    public init(_ mark: String) {
        self.mark = mark
    }

    /// This one, and what else tells a change; itself for nil.
    func with(_ addition: String?) -> CredentialVersion { addition.map { CredentialVersion("\(mark) \($0)") } ?? self }

    /// The version of what was not seen: like no other.
    static var unseen: CredentialVersion { CredentialVersion(UUID().uuidString) }
}

/// The key of a credential in a store that holds several: its account, its client, its issuer.
///
/// Refreshing one never waits for another.
public struct CredentialKey: Hashable, Sendable, Codable {
    /// The issuer: the authorization server's issuer URL, or the API's origin. Staging and production differ here.
    public let issuer: String
    /// The client it was issued to, by `client_id`. Empty where clients have no names.
    public let client: String
    /// The account, in the app's words: a user's name or number. Empty where there is only one.
    public let account: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - issuer: The authorization server's issuer URL, or the API's origin.
    ///   - client: The `client_id`. Default: empty, for a server that does not tell clients apart.
    ///   - account: The account. Default: empty, for an app with one account at a time.
    public init(issuer: String, client: String = "", account: String = "") {
        self.issuer = issuer
        self.client = client
        self.account = account
    }
}

/// Why a ``CredentialStore`` cannot do its work. The credential itself may well be good: nobody is signed out by it.
public enum CredentialStoreError: Error, Hashable, Sendable {
    /// The stored record breaks off or was changed: it cannot be read. Sign in again, which replaces it.
    case damaged(place: String)
    /// The stored record is not a credential of this library, or belongs to another key; it is left alone.
    case foreign(place: String)
    /// A newer version of this library has stored it: update this one.
    case newerFormat(place: String, version: Int)
    /// The stored credential is of another type than this one, as another version of the app may have stored it. It
    /// stays until somebody signs in or out. If it belongs to another session than this process's, the session of this
    /// process ends.
    case undecodable(type: String)
    /// The stored record was encrypted with another key. It stays until somebody signs in or out. Its session, if the
    /// store knows it, tells a process of another one that its own is over.
    case sealedOtherwise(issuer: String, session: UUID? = nil)
    /// The folder is open to others, or belongs to somebody else; give it mode 0700, or another place.
    case notPrivate(place: String)
    /// There is no room left.
    case full(place: String)
    /// The place must not be written, or read.
    case notPermitted(place: String)
    /// The system refused for another reason: its error number, or its status on Apple's keychain.
    case system(operation: String, place: String, code: Int)
    /// A store of one's own failed; the type of its error.
    case other(type: String)
}

extension CredentialKey: Redacted {
    /// The issuer; never the account's name, nor the client's.
    public var description: String { "CredentialKey(\(issuer))" }
}

extension CredentialStoreError: PrintableError, LocalizedError {
    /// The failure, its place, and what to do about it.
    public var description: String {
        switch self {
        case .damaged(let place):
            "The credential in \(place) is damaged and cannot be read; sign in again, which replaces it"
        case .foreign(let place):
            "\(place) is not this library's credential for this key, and is left alone; remove it, or store elsewhere"
        case .newerFormat(let place, let version):
            "A newer version of this library has stored \(place), in format \(version); update this one"
        case .undecodable(let type):
            "The stored credential is no \(type); update the app that cannot read it, or sign in again, which replaces it"
        case .sealedOtherwise(let issuer, _):
            "The stored credential for \(issuer) is encrypted with another key; use that, or sign in again, which replaces it"
        case .notPrivate(let place):
            "Others may enter \(place), or it belongs to another user; give it to this user with mode 0700"
        case .full(let place):
            "There is no room left to store \(place); make some"
        case .notPermitted(let place):
            "The system does not permit access to \(place); grant it, or try again once the device is unlocked"
        case .system(let operation, let place, let code):
            "The system refused \(operation) on \(place): \(Self.words(for: code)); try again once that is mended"
        case .other(let type):
            "The store failed with \(type); see what it means there"
        }
    }

    /// The system's own words for its error numbers; the keychain's statuses are negative, and stay numbers.
    private static func words(for code: Int) -> String {
        code > 0 ? "\(String(cString: strerror(Int32(clamping: code)))) (\(code))" : "status \(code)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
