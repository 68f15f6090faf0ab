/// Why a ``CredentialStore`` cannot do its work. The credential itself may well be good: nobody is signed out by it.
public enum CredentialStoreError: Error, Hashable, Sendable {
    /// The stored record breaks off or was changed: it cannot be read. Sign in again, which replaces it.
    case damaged(place: String)
    /// The stored record is not a credential of this library, or belongs to another key; it is left alone.
    case foreign(place: String)
    /// A newer version of this library has stored it: update this one.
    case newerFormat(place: String, version: Int)
    /// The stored credential is of another type than this one, as another version of the app may have stored it. It
    /// stays until somebody signs in or out.
    case undecodable(type: String)
    /// The stored record was encrypted with another key. It stays until somebody signs in or out.
    case sealedOtherwise(issuer: String)
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
