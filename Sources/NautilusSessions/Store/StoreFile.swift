import Foundation
import Nautilus

/// The names of one key's files. They show neither account nor issuer, and stay within the folder whatever those
/// contain.
struct StoreFile: Sendable {
    /// The file of the credential, and its name in errors.
    let path: String
    let place: String
    /// The file that is locked, and its name in errors.
    let lockPath: String
    let lockPlace: String

    private let folder: String
    private let stem: String

    init(of key: CredentialKey, in folder: String) {
        self.folder = folder
        stem = Sha256.hash(Self.identity(of: key)).hexadecimal
        place = stem + ".json"
        path = folder + "/" + place
        lockPlace = stem + ".lock"
        lockPath = folder + "/" + lockPlace
    }

    /// A name for the next save, and not likely to be taken.
    func temporaryPath() -> String {
        "\(folder)/\(stem).\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).tmp"
    }

    /// The file whose presence says that a session has been ended.
    func endPath(of session: UUID) -> String { "\(folder)/\(stem).\(session.uuidString).ended" }

    /// Whether a file of this name says that a session has been ended.
    func isEnd(_ name: String) -> Bool {
        name.hasPrefix(stem + ".") && name.hasSuffix(".ended")
    }

    /// Whether a file of this name was left by a save that was killed.
    func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(stem + ".") && name.hasSuffix(".tmp")
    }

    /// Different for different keys: each part says its length. Equal texts are equal bytes only once they are
    /// composed.
    private static func identity(of key: CredentialKey) -> [UInt8] {
        [key.issuer, key.client, key.account].flatMap { part in
            let bytes = Array(part.precomposedStringWithCanonicalMapping.utf8)
            return Array("\(bytes.count):".utf8) + bytes
        }
    }
}
