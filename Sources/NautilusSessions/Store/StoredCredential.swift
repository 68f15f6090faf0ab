import Foundation
import Nautilus

/// The record of a ``CredentialStore``: a credential as bytes, its session, and the state of its refresh.
///
/// A store need not know what kind of credential it keeps; an encrypting store replaces the ``content``.
public struct StoredCredential: Hashable, Sendable {
    /// The session: drawn at sign-in and kept by every refresh. It tells the refresh of another process, which is
    /// adopted, from the sign-in of another user, which is not.
    public let session: UUID
    /// The session's number: one more than that of the session it replaced. When two processes sign in, it tells which
    /// sign-in knew of the other; a clock could not.
    public let number: Int
    /// How often the session's credential has been refreshed. It tells which of two records of a session is newer, so
    /// that a stale store takes nothing back.
    public let refreshCount: Int
    /// The credential: its JSON, or the form in which a ``CredentialStore`` keeps that JSON. Empty when the session has
    /// expired.
    public var content: Data
    /// How often the credential has been sent to be refreshed, or was about to be, without a known answer: 0 if it was
    /// never sent. Written before sending, so that it outlives the process.
    public var unanswered: Int
    /// Whether the server has ended the session: nobody is signed in, other processes can say why, and there is no
    /// credential.
    public let hasExpired: Bool
    /// Whether the credential was already expired, by this device's clock, when its refresh brought it. The clock must
    /// be wrong then, so every process uses the credential until the server rejects it.
    public let cameExpired: Bool

    /// The largest count, so that sums stay far from the largest integer.
    fileprivate static let maxCount = 1_000_000_000

    /// Creates a record of bytes.
    ///
    /// - Parameters:
    ///   - session: The session of the credential.
    ///   - number: The session's number. Default: 1, the first; smaller numbers count as 1, those above a billion as a
    ///     billion.
    ///   - refreshCount: How often the credential has been refreshed. Default: 0, never; at most a billion.
    ///   - content: The credential as bytes.
    ///   - unanswered: How often the credential was sent to be refreshed without a known answer. Default: 0, never; at
    ///     most a billion.
    ///   - hasExpired: Whether the server has ended the session. Default: false.
    ///   - cameExpired: Whether the credential was already expired when it came. Default: false.
    public init(
        session: UUID,
        number: Int = 1,
        refreshCount: Int = 0,
        content: Data,
        unanswered: Int = 0,
        hasExpired: Bool = false,
        cameExpired: Bool = false
    ) {
        self.session = session
        // Bounded, so that 1 can be added to any number that a store brings.
        self.number = min(max(1, number), Self.maxCount)
        self.refreshCount = min(max(0, refreshCount), Self.maxCount)
        self.content = content
        self.unanswered = min(max(0, unanswered), Self.maxCount)
        self.hasExpired = hasExpired
        self.cameExpired = cameExpired
    }

    /// Creates a record of a credential, as JSON with sorted keys.
    ///
    /// - Throws: The error of the credential's encoding.
    public init(
        session: UUID,
        number: Int = 1,
        refreshCount: Int = 0,
        credential: some Encodable,
        unanswered: Int = 0,
        hasExpired: Bool = false,
        cameExpired: Bool = false
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = try encoder.encode(credential)
        self.init(
            session: session,
            number: number,
            refreshCount: refreshCount,
            content: content,
            unanswered: unanswered,
            hasExpired: hasExpired,
            cameExpired: cameExpired
        )
    }

    /// The credential.
    ///
    /// - Throws: ``CredentialStoreError/undecodable(type:)`` when the credential is of another type, as another version
    ///   of the app may have stored it, or the session has expired and there is no credential.
    public func credential<Credential: Decodable>(
        as type: Credential.Type = Credential.self
    ) throws(CredentialStoreError) -> Credential {
        // The underlying error may quote what it has read, which is a secret.
        guard let credential = try? JSONDecoder().decode(type, from: content) else {
            throw .undecodable(type: "\(type)")
        }
        return credential
    }
}

extension StoredCredential: Redacted {
    /// The session, the size and the count of lost answers; nothing of the credential.
    public var description: String {
        hasExpired
            ? "StoredCredential(session \(session), expired)"
            : "StoredCredential(session \(session), \(content.count) bytes, unanswered \(unanswered))"
    }
}

/// The fields of a ``StoredCredential`` as they are written. A separate type, so that renaming a property does not
/// change what is stored, and numbers too large to calculate with are refused.
struct CredentialRecord: Codable {
    private let session: UUID
    private let number: Int
    /// Nil for 0, so that it is not written.
    private let renewals: Int?
    private let unanswered: Int
    /// Nil for false, so that it is not written.
    private let hasExpired: Bool?
    /// Nil for false, as in records from before this field existed.
    private let cameExpired: Bool?
    /// Written in base64, since the bytes may be of any kind, such as encrypted.
    private let credential: Data

    init(_ stored: StoredCredential) {
        session = stored.session
        number = stored.number
        renewals = stored.refreshCount > 0 ? stored.refreshCount : nil
        unanswered = stored.unanswered
        hasExpired = stored.hasExpired ? true : nil
        cameExpired = stored.cameExpired ? true : nil
        credential = stored.content
    }

    /// Reads what was written, and refuses numbers out of range.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        session = try container.decode(UUID.self, forKey: .session)
        number = try container.decode(Int.self, forKey: .number)
        renewals = try container.decodeIfPresent(Int.self, forKey: .renewals)
        unanswered = try container.decode(Int.self, forKey: .unanswered)
        hasExpired = try container.decodeIfPresent(Bool.self, forKey: .hasExpired)
        cameExpired = try container.decodeIfPresent(Bool.self, forKey: .cameExpired)
        credential = try container.decode(Data.self, forKey: .credential)
        let (counts, most) = ([unanswered, renewals ?? 0], StoredCredential.maxCount)
        guard counts.allSatisfy((0...most).contains), (1...most).contains(number) else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "out of range"))
        }
    }

    /// The record as the rest of the library uses it.
    var stored: StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            refreshCount: renewals ?? 0,
            content: credential,
            unanswered: unanswered,
            hasExpired: hasExpired ?? false,
            cameExpired: cameExpired ?? false
        )
    }
}
