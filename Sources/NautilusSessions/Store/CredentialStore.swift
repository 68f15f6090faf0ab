import Foundation
import Nautilus

/// A store that keeps credentials beyond the end of a process and shares them among processes: each key has one record
/// and one lock.
///
/// A store has to guarantee four things: a load never shows half a save, nor a session that has been ended; a lock has
/// one holder among all processes that share the store; and a holder that dies loses the lock. It decides nothing:
/// ``Session`` loads at any time, but saves and deletes only while it holds the key's lock.
///
/// ``MemoryStore`` is for tests and for credentials that need not be kept, ``FileStore`` for files on one machine,
/// `KeychainStore` for Apple's platforms. A fleet of servers can implement its own over a shared database, with
/// ``CredentialFormat`` for the bytes and, on one machine, ``LockFolder`` for the locks. A store that may wait should
/// react to cancellation, since the store is read before each attempt. The guide `SeveralProcesses` says how long a
/// session waits for a store, and how stale a load may be.
public protocol CredentialStore: Sendable {
    /// Whether every read shows what was stored last, by whichever process, so that a look without the lock tells who
    /// is signed in. Default: false, as for a database with replicas. Then a sign-in finds out with the lock held whom
    /// it replaces, so that of two at once the one that is saved last may count, and not the first; and so does a
    /// sign-out in a process that knows of nobody: it ends whoever is stored when it has the lock. If they cannot have
    /// the lock for a minute, a look without it tells.
    var showsLatest: Bool { get }

    /// Loads the stored record; nil when there is none. A record that ``StoredCredential/hasExpired`` holds no usable
    /// credential: it says that the server has ended the session.
    ///
    /// - Throws: ``CredentialStoreError`` for a record that exists but cannot be read; nil never stands for such a
    ///   record.
    func load(_ key: CredentialKey) async throws -> StoredCredential?

    /// Replaces the stored record, wholly or not at all, and returns once it would survive a power failure.
    ///
    /// - Throws: ``CredentialStoreError``; the previous record is still there then, except after
    ///   ``CredentialStoreError/notDurable(place:)``. After any other type of error, such as that of a connection which
    ///   may have lost the answer, a ``Session`` looks whether the record is there, and keeps the lock until it knows.
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws

    /// Ends a session for every process that shares the store, without the key's lock, which may be held for long.
    /// Until ``delete(_:)``, no load shows a record of the session any more, whether already stored or saved later by a
    /// process that does not know of the end. Records of other sessions stay. If the session was stored, the
    /// ``version(of:)`` changes at the same moment: a process that is killed halfway must not leave an end that the
    /// others never hear of.
    ///
    /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
    /// - Throws: ``CredentialStoreError`` when the session may still be shown.
    @discardableResult
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential?

    /// Whether a session has been ended by ``end(_:for:)`` since the last ``delete(_:)``. Asked when the record cannot
    /// be read, for example because a newer version of the app has put its own in place of the ended session's.
    /// Default: false, nothing is known of an end.
    ///
    /// - Throws: ``CredentialStoreError``.
    func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool

    /// Removes whatever is stored, of any session, and forgets which sessions have been ended; does nothing when
    /// nothing is stored.
    ///
    /// - Throws: ``CredentialStoreError``.
    func delete(_ key: CredentialKey) async throws

    /// A mark that changes with each save and delete, by whichever process. Asked before every attempt of every call,
    /// so it has to be cheap: no decryption, no network.
    ///
    /// - Returns: Nil when nothing is stored.
    /// - Throws: ``CredentialStoreError``.
    func version(of key: CredentialKey) async throws -> CredentialVersion?

    /// Takes the key's lock if it is free, and does not wait.
    ///
    /// - Returns: The lock; nil while another holder has it, in this process or in another.
    /// - Throws: ``CredentialStoreError``.
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)?
}

extension CredentialStore {
    /// False.
    public var showsLatest: Bool { false }

    /// False.
    public func isEnded(_ session: UUID, for key: CredentialKey) async throws -> Bool { false }
}

/// Exclusive access to one key of a ``CredentialStore``. It ends with ``unlock()``, with the lock object, or with the
/// process.
public protocol CredentialLock: AnyObject, Sendable {
    /// Whether the lock still grants exclusive access: false once it has been given back, or the system or somebody
    /// else has taken it away. A ``Session`` asks right before each save and delete, and reads the store again if the
    /// lock was lost. Default: true, for locks that cannot be lost.
    var isHeld: Bool { get }

    /// Gives the access back; does nothing when that has already happened.
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

    /// This version combined with another mark of change; this version alone when `addition` is nil.
    func with(_ addition: String?) -> CredentialVersion { addition.map { CredentialVersion("\(mark) \($0)") } ?? self }

    /// The version of a record that was not seen: equal to no other.
    static var unseen: CredentialVersion { CredentialVersion(UUID.random().uuidString) }
}

/// The key of a credential in a store that holds several: its issuer, its client and its account.
///
/// Refreshing one credential never waits for another.
public struct CredentialKey: Hashable, Sendable, Codable {
    /// The issuer: the authorization server's issuer URL, or the API's origin. Staging and production differ here.
    public let issuer: String
    /// The client the credential was issued to, by `client_id`. Empty where clients have no names.
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

/// Why a ``CredentialStore`` cannot do its work. The credential itself may well be good, so nobody is signed out by it.
public enum CredentialStoreError: Error, Hashable, Sendable {
    /// The stored record breaks off or was changed, and cannot be read. Sign in again, which replaces it.
    case damaged(place: String)
    /// The stored record is not a credential of this library, or belongs to another key. It is left alone.
    case foreign(place: String)
    /// The stored record was written by a newer version of this library. Update this one.
    case newerFormat(place: String, version: Int)
    /// The stored credential is of another type, as another version of the app may have stored it. It stays until
    /// somebody signs in or out. If it belongs to another session than this process's, this process's session ends.
    case undecodable(type: String)
    /// The stored record was encrypted with another key. It stays until somebody signs in or out. Its session, if the
    /// store knows it, tells a process with another session that its own is over.
    case sealedOtherwise(issuer: String, session: UUID? = nil)
    /// The folder is open to others, or belongs to somebody else. Give it mode 0700, or choose another place.
    case notPrivate(place: String)
    /// There is no room left.
    case full(place: String)
    /// The new record is stored, but a power failure may bring back the previous one. A ``Session`` saves it again.
    case notDurable(place: String)
    /// The system does not permit reading or writing the place.
    case notPermitted(place: String)
    /// The system refused for another reason. `code` is its error number, or a status of Apple's keychain.
    case system(operation: String, place: String, code: Int)
    /// A custom store failed; the type of its error.
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
        case .notDurable(let place):
            "The credential is stored in \(place), but might not survive a power failure; it is saved once more"
        case .full(let place):
            "There is no room left to store \(place); make some"
        case .notPermitted(let place):
            "The system does not permit access to \(place); grant it, or try again once the device is unlocked"
        case .system(let operation, let place, let code):
            "The system refused \(operation) on \(place): \(Self.words(for: code)); try again once that is fixed"
        case .other(let type):
            "The store failed with \(type); see what it means there"
        }
    }

    /// The system's own words for its error numbers. The keychain's statuses are negative, and stay numbers.
    private static func words(for code: Int) -> String {
        code > 0 ? "\(String(cString: strerror(Int32(clamping: code)))) (\(code))" : "status \(code)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
