import Foundation
import Nautilus

/// The bytes of a ``StoredCredential``, for authors of a ``CredentialStore``.
///
/// One JSON object: a name, the format's version, the key, the record and, at the very end, the SHA-256 digest of all
/// bytes before it. The digest thus covers every byte, and a person can read the file:
///
/// ```json
/// {"format":"nautilus-credential","version":1,"key":{…},"record":{…},"digest":"…"}
/// ```
/// The head up to the version and the digest are the same in every version, so an old reader can tell a newer file from
/// a damaged one. The digest detects accidents; it does not protect against someone who can write the file. Unknown
/// fields are ignored, so that version 1 can gain fields later.
public enum CredentialFormat {
    /// The version that is written, and the only one that can be read.
    public static let version = 1

    /// The largest size that is written or read: a thousand times that of a usual credential, yet quick to read.
    public static let maxSize = 1 << 20

    /// The bytes to store.
    ///
    /// - Parameters:
    ///   - stored: The record to store.
    ///   - key: The key of the record; the record can be read only with this key.
    ///   - place: The place where it is stored, for errors: the name of a file or service.
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
    ///   - data: The bytes; anybody may have written them.
    ///   - key: The key that the record must have.
    ///   - place: The place the bytes come from, for errors.
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

    /// Reads bytes whose digest is right, though anybody may have written them.
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

/// The part that every version has.
private struct CredentialHead: Decodable {
    let version: Int
}

/// The key that a record belongs to. Read before the record, since the record of another key is not ours to judge.
private struct CredentialOwner: Decodable {
    let key: CredentialKey
}

/// The part of version 1 between its head and its digest.
private struct CredentialContent: Codable {
    let key: CredentialKey
    let record: CredentialRecord
}

/// The outermost layer of a stored credential, the same in every version: the head names the format, and the digest at
/// the end shows that nothing before it has changed.
enum CredentialSeal {
    /// The state of bytes that were read.
    enum State: Hashable, Sendable {
        /// Ours, and unchanged.
        case intact
        /// Ours, but changed.
        case broken
        /// Not ours.
        case unknown
    }

    private static let head = Array(#"{"format":"nautilus-credential","version":"#.utf8)
    private static let digestStart = Array(#","digest":""#.utf8)
    private static let end = Array(#""}"#.utf8)
    private static let tailCount = digestStart.count + 64 + end.count

    /// Puts head and digest around the fields of `content`, a JSON object.
    static func close(version: Int, content: Data) -> Data {
        var sealed = Data(head)
        sealed.append(contentsOf: "\(version),".utf8)
        sealed.append(content.dropFirst().dropLast())
        let digest = hexDigest(of: sealed)
        sealed.append(contentsOf: digestStart + digest + end)
        return sealed
    }

    /// Tells what `data` is.
    static func open(_ data: Data) -> State {
        let hasHead = data.starts(with: head)
        let tail = Array(data.suffix(tailCount))
        let hasTail = tail.count == tailCount && tail.starts(with: digestStart) && tail.suffix(end.count) == end[...]
        // Either end is enough to recognise our own data: an accident rarely hits both.
        guard hasHead || hasTail else { return isRemnant(data) ? .broken : .unknown }
        guard hasHead, hasTail else { return .broken }
        let digest = tail.dropFirst(digestStart.count).dropLast(end.count)
        return digest == hexDigest(of: data.dropLast(tailCount))[...] ? .intact : .broken
    }

    /// Whether a crash may have left this of one of our files: cut off within the head, empty, or all zeros.
    private static func isRemnant(_ data: Data) -> Bool {
        head.starts(with: data) || data.allSatisfy { $0 == 0 }
    }

    private static func hexDigest(of data: Data) -> [UInt8] {
        Array(Sha256.hash(data).hexadecimal.utf8)
    }
}
