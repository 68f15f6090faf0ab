import Foundation

/// How a ``StoredCredential`` is written as bytes, for whoever writes a ``CredentialStore``.
///
/// One JSON object: a name, the format's version, the key, the record, and at its very end the SHA-256 digest of all
/// bytes before it. So every byte is covered, and whoever looks into the file can read it:
///
/// ```json
/// {"format":"nautilus-credential","version":1,"key":{…},"record":{…},"digest":"…"}
/// ```
/// The head up to the version, and the digest, are the same in every version: an old reader can tell a newer file from
/// a damaged one. The digest finds accidents; it is no protection from someone who may write the file. Fields that are
/// not known are ignored, so a later version 1 can add some.
public enum CredentialFormat {
    /// The version that is written, and the only one that is read.
    public static let version = 1

    /// The most bytes that are read or written: a thousand times a usual credential, and yet no burden to read.
    public static let maxSize = 1 << 20

    /// The bytes to store.
    ///
    /// - Parameters:
    ///   - stored: What to store.
    ///   - key: Whose it is; only this key reads it again.
    ///   - place: Where it goes, for errors: the name of a file or service.
    /// - Throws: ``CredentialStoreError/system(operation:place:code:)`` with `EFBIG` for more than ``maxSize`` bytes.
    public static func encode(
        _ stored: StoredCredential,
        for key: CredentialKey,
        place: String
    ) throws(CredentialStoreError) -> Data {
        let content: Data
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            content = try encoder.encode(CredentialContent(key: key, record: CredentialRecord(stored)))
        } catch {
            throw .other(type: "\(type(of: error))")
        }
        let sealed = CredentialSeal.close(version: version, content: content)
        guard sealed.count <= maxSize else { throw .system(operation: "encode", place: place, code: Int(EFBIG)) }
        return sealed
    }

    /// Reads what ``encode(_:for:place:)`` wrote.
    ///
    /// - Parameters:
    ///   - data: The bytes, from whoever may have written them.
    ///   - key: Whose it has to be.
    ///   - place: Where they come from, for errors.
    /// - Throws: ``CredentialStoreError/damaged(place:)``, ``CredentialStoreError/foreign(place:)`` or
    ///   ``CredentialStoreError/newerFormat(place:version:)``; nothing else, whatever the bytes are.
    public static func decode(
        _ data: Data,
        for key: CredentialKey,
        place: String
    ) throws(CredentialStoreError) -> StoredCredential {
        guard data.count <= maxSize else { throw .damaged(place: place) }
        switch CredentialSeal.open(data) {
        case .broken: throw .damaged(place: place)
        case .unknown: throw .foreign(place: place)
        case .intact: return try decode(intact: data, for: key, place: place)
        }
    }

    /// Reads bytes whose digest is right; who wrote them may still be anybody.
    static func decode(
        intact data: Data,
        for key: CredentialKey,
        place: String
    ) throws(CredentialStoreError) -> StoredCredential {
        let decoder = JSONDecoder()
        guard let head = try? decoder.decode(CredentialHead.self, from: data) else { throw .damaged(place: place) }
        guard head.version <= version else { throw .newerFormat(place: place, version: head.version) }
        guard head.version == version, let owner = try? decoder.decode(CredentialOwner.self, from: data) else {
            throw .damaged(place: place)
        }
        guard owner.key == key else { throw .foreign(place: place) }
        guard let content = try? decoder.decode(CredentialContent.self, from: data) else {
            throw .damaged(place: place)
        }
        return content.record.stored
    }
}

/// What every version has.
private struct CredentialHead: Decodable {
    let version: Int
}

/// Whose it is; read before the record, since what belongs to another key is not ours to judge.
private struct CredentialOwner: Decodable {
    let key: CredentialKey
}

/// What version 1 has between its head and its digest.
private struct CredentialContent: Codable {
    let key: CredentialKey
    let record: CredentialRecord
}
